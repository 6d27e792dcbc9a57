/* Has every sort of explicit memory, and checks that it is unchanged. For tests that move it out
 * and in meanwhile, and make calls of the driver fail.
 *
 *     lodger KERNELS.PTX [mapped | small | whole]
 *
 * It prints "ready" when it has its memory. For each line that it reads it checks all of it, writes
 * something else, and prints "right". At the end of its input it frees everything. One of its
 * handles is mapped only during a check, unless all have to be mapped. It has 74 MiB; or 10; or 42,
 * of which nothing moves in two pieces.
 *
 * Failed calls are repeated: a failed call must not have changed anything. A call that fails for a
 * second, or a wrong byte, ends it with exit code 1 and a line that describes it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define MIB ((uint64_t)1 << 20)
enum { ITEMS = 5, ALIASES = 2, PATIENCE = 100, SPOT_WORDS = 64 };

/* To copy a handle that is mapped nowhere, nvshare has to map it itself. */
enum kind { PLAIN, HANDLE, HIDDEN_HANDLE };

static struct wanted {
    enum kind kind;
    uint64_t bytes;
    int mappings;
    bool is_exportable;
} wanted[ITEMS] = {
    {PLAIN, 4 * MIB, 0, false},   {PLAIN, 3000, 0, false},
    {HANDLE, 66 * MIB, 2, false}, /* two of the pieces that move at a time */
    {HANDLE, 2 * MIB, 2, true},   {HIDDEN_HANDLE, 2 * MIB, 1, false},
};

struct item {
    const struct wanted *wanted;
    CUdeviceptr at[ALIASES];
    CUmemGenericAllocationHandle handle;
    uint64_t seed;
    bool is_mapped;
};

struct lodger {
    bool hides;
    CUfunction pattern, count;
    CUdeviceptr wrong; /* one word, to which the kernel adds what it finds */
    struct item items[ITEMS];
};

#define INSIST(call)                                                                               \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        for (int i_ = 1; result_ != CUDA_SUCCESS && i_ < PATIENCE; i_++) {                         \
            if (i_ > 1)                                                                            \
                usleep(10000);                                                                     \
            result_ = (call);                                                                      \
        }                                                                                          \
        if (result_ != CUDA_SUCCESS)                                                               \
            fail(#call, result_);                                                                  \
    } while (0)

static void map(struct item *item, int alias) {
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    uint64_t bytes = item->wanted->bytes;
    INSIST(cuMemAddressReserve(&item->at[alias], bytes, 0, 0, 0));
    INSIST(cuMemMap(item->at[alias], bytes, 0, item->handle, 0));
    INSIST(cuMemSetAccess(item->at[alias], bytes, &access, 1));
}

static void unmap(struct item *item, int alias) {
    INSIST(cuMemUnmap(item->at[alias], item->wanted->bytes));
    INSIST(cuMemAddressFree(item->at[alias], item->wanted->bytes));
}

static void map_all(struct item *item) {
    item->is_mapped = true;
    for (int i = 0; i < item->wanted->mappings; i++)
        map(item, i);
}

static void unmap_all(struct item *item) {
    item->is_mapped = false;
    for (int i = 0; i < item->wanted->mappings; i++)
        unmap(item, i);
}

static void make(struct item *item) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    if (item->wanted->is_exportable)
        prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (item->wanted->kind == PLAIN)
        INSIST(cuMemAlloc(&item->at[0], item->wanted->bytes));
    else
        INSIST(cuMemCreate(&item->handle, item->wanted->bytes, &prop, 0));
    map_all(item);
}

static void let_go(struct item *item) {
    if (item->wanted->kind == PLAIN) {
        INSIST(cuMemFree(item->at[0]));
        return;
    }
    if (item->is_mapped)
        unmap_all(item);
    INSIST(cuMemRelease(item->handle));
}

static void launch(CUfunction function, void **parameters) {
    INSIST(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
}

/* A few words in every 2 MiB, and the last ones. */
static void each_spot(struct lodger *lodger, CUfunction function, const struct item *item,
                      int alias) {
    uint64_t words = SPOT_WORDS, bytes = item->wanted->bytes, seed = item->seed;
    for (uint64_t at = 0; at < bytes; at += 2 * MIB, seed++) {
        CUdeviceptr begin = item->at[alias] + at;
        void *parameters[] = {&begin, &words, &seed, &lodger->wrong};
        launch(function, parameters);
    }
    CUdeviceptr last = item->at[alias] + bytes - bytes % 8 - SPOT_WORDS * 8;
    void *parameters[] = {&last, &words, &seed, &lodger->wrong};
    launch(function, parameters);
}

static void write_all(struct lodger *lodger) {
    for (int i = 0; i < ITEMS; i++) {
        lodger->items[i].seed += UINT64_C(0x9E3779B97F4A7C15);
        each_spot(lodger, lodger->pattern, &lodger->items[i], 0);
    }
    INSIST(cuCtxSynchronize());
}

static void look(struct lodger *lodger) {
    uint64_t wrong = 0;
    for (int i = 0; i < ITEMS; i++)
        for (int alias = 0; alias < ALIASES && lodger->items[i].at[alias]; alias++)
            each_spot(lodger, lodger->count, &lodger->items[i], alias);
    INSIST(cuMemcpyDtoH(&wrong, lodger->wrong, sizeof wrong));
    if (!wrong)
        return;
    fprintf(stderr, "lodger: %llu words are wrong\n", (unsigned long long)wrong);
    _exit(1);
}

static void each_hidden(struct lodger *lodger, void (*change)(struct item *)) {
    for (int i = 0; i < ITEMS; i++)
        if (wanted[i].kind == HIDDEN_HANDLE && lodger->hides)
            change(&lodger->items[i]);
}

static void say(const char *what) {
    puts(what);
    fflush(stdout);
}

static void stay(struct lodger *lodger) {
    char line[16];
    write_all(lodger);
    each_hidden(lodger, unmap_all);
    say("ready");
    while (fgets(line, sizeof line, stdin)) {
        each_hidden(lodger, map_all);
        look(lodger);
        write_all(lodger);
        each_hidden(lodger, unmap_all);
        say("right");
    }
}

static void arrive(struct lodger *lodger, const char *kernels) {
    CUcontext context;
    CUmodule module;
    char *ptx = read_file(kernels);
    INSIST(cuInit(0));
    INSIST(cuDevicePrimaryCtxRetain(&context, 0));
    INSIST(cuCtxSetCurrent(context));
    INSIST(cuModuleLoadData(&module, ptx));
    free(ptx);
    INSIST(cuModuleGetFunction(&lodger->pattern, module, "nvshare_pattern_u64"));
    INSIST(cuModuleGetFunction(&lodger->count, module, "nvshare_count_mismatches_u64"));
    INSIST(cuMemAlloc(&lodger->wrong, sizeof(uint64_t)));
    INSIST(cuMemcpyHtoD(lodger->wrong, &(uint64_t){0}, sizeof(uint64_t)));
    for (int i = 0; i < ITEMS; i++) {
        lodger->items[i].wanted = &wanted[i];
        make(&lodger->items[i]);
    }
}

int main(int argc, char **argv) {
    const char *kind = argc == 3 ? argv[2] : "";
    struct lodger lodger = {.hides = strcmp(kind, "mapped") != 0};
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: lodger KERNELS.PTX [mapped | small | whole]\n");
        return 2;
    }
    if (strcmp(kind, "small") == 0)
        wanted[2].bytes = 2 * MIB;
    if (strcmp(kind, "whole") == 0)
        wanted[2].bytes = 34 * MIB;
    arrive(&lodger, argv[1]);
    stay(&lodger);
    for (int i = 0; i < ITEMS; i++)
        let_go(&lodger.items[i]);
    INSIST(cuMemFree(lodger.wrong));
    return 0;
}
