/* Keeps memory for long, with patterns in it, and checks these again and again; allocates, frees,
 * and ends at random times. For GPUs that are too small for all their programs.
 *
 *     keeper THREADS ROUNDS SEED KERNELS.PTX
 *
 * ROUNDS 0 goes on until it is killed. Out of memory is a normal answer. Any other error, or a
 * wrong byte, ends it with exit code 1 and a line that describes it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "guest.h"

enum { SLOTS = 6, MOST_WORDS = 1 << 21 };

struct kept {
    CUdeviceptr memory;
    uint64_t words, seed;
};

struct keeper {
    uint64_t random;
    long rounds;
    CUcontext context;
    CUfunction pattern, count;
    CUdeviceptr wrong; /* one word, for the kernel that counts */
    struct kept kept[SLOTS];
    pthread_t thread;
};

static uint64_t next_random(struct keeper *k) {
    return random_after(&k->random);
}

/* Half of the memory is managed, as far as the program knows. */
static CUresult allocate(struct keeper *k, CUdeviceptr *memory, uint64_t words) {
    return next_random(k) % 2 ? cuMemAlloc(memory, words * 8)
                              : cuMemAllocManaged(memory, words * 8, CU_MEM_ATTACH_GLOBAL);
}

static void write_pattern(struct keeper *k, struct kept *kept) {
    kept->seed = next_random(k);
    void *parameters[] = {&kept->memory, &kept->words, &kept->seed};
    DO(cuLaunchKernel(k->pattern, 64, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
}

static void keep(struct keeper *k, struct kept *kept) {
    uint64_t words = 1 + next_random(k) % MOST_WORDS;
    CUresult result = allocate(k, &kept->memory, words);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return;
    DO(result);
    kept->words = words;
    write_pattern(k, kept);
}

static void look(struct keeper *k, const struct kept *kept) {
    uint64_t wrong = 0, words = kept->words, seed = kept->seed;
    CUdeviceptr memory = kept->memory;
    void *parameters[] = {&memory, &words, &seed, &k->wrong};
    DO(cuMemcpyHtoD(k->wrong, &wrong, sizeof wrong));
    DO(cuLaunchKernel(k->count, 64, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    DO(cuMemcpyDtoH(&wrong, k->wrong, sizeof wrong));
    if (wrong) {
        fprintf(stderr, "keeper: %llu of %llu words are wrong\n", (unsigned long long)wrong,
                (unsigned long long)words);
        _exit(1);
    }
}

static void let_go(struct kept *kept) {
    DO(cuMemFree(kept->memory));
    kept->words = 0;
}

/* A context whose memory ends with it. */
static void come_and_go(struct keeper *k) {
    struct kept kept = {.words = 1 + next_random(k) % MOST_WORDS};
    CUcontext own;
    if (cuCtxCreate(&own, NULL, 0, 0) != CUDA_SUCCESS)
        return;
    allocate(k, &kept.memory, kept.words);
    DO(cuCtxDestroy(own));
    DO(cuCtxSetCurrent(k->context));
}

static void step(struct keeper *k) {
    struct kept *kept = &k->kept[next_random(k) % SLOTS];
    uint64_t choice = next_random(k) % 16;
    if (choice == 0) {
        come_and_go(k);
    } else if (!kept->words) {
        keep(k, kept);
    } else {
        look(k, kept);
        if (choice < 4)
            let_go(kept);
        else if (choice < 6)
            write_pattern(k, kept);
    }
}

static void *run(void *argument) {
    struct keeper *k = argument;
    DO(cuCtxSetCurrent(k->context));
    while (cuMemAlloc(&k->wrong, sizeof(uint64_t)) != CUDA_SUCCESS)
        usleep(1000);
    for (long round = 0; !k->rounds || round < k->rounds; round++)
        step(k);
    for (int i = 0; i < SLOTS; i++)
        if (k->kept[i].words)
            look(k, &k->kept[i]);
    return NULL;
}

static void prepare(struct keeper *k, CUcontext context, CUmodule module, char **argv) {
    k->random = strtoull(argv[3], NULL, 10) * UINT64_C(0x9E3779B97F4A7C15) + (uintptr_t)k % 977;
    k->rounds = atol(argv[2]);
    k->context = context;
    DO(cuModuleGetFunction(&k->pattern, module, "nvshare_pattern_u64"));
    DO(cuModuleGetFunction(&k->count, module, "nvshare_count_mismatches_u64"));
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: keeper THREADS ROUNDS SEED KERNELS.PTX\n");
        return 2;
    }
    bear_interruptions();
    long threads = atol(argv[1]);
    struct keeper *keepers = calloc((size_t)threads, sizeof *keepers);
    CUcontext context;
    CUmodule module;
    char *ptx = read_file(argv[4]);
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, 0));
    DO(cuCtxSetCurrent(context));
    DO(cuModuleLoadData(&module, ptx));
    free(ptx);
    for (long i = 0; i < threads; i++) {
        prepare(&keepers[i], context, module, argv);
        pthread_create(&keepers[i].thread, NULL, run, &keepers[i]);
    }
    for (long i = 0; i < threads; i++)
        pthread_join(keepers[i].thread, NULL);
    free(keepers);
    puts("ok");
    return 0; /* the driver frees the rest */
}
