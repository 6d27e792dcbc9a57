/* Makes random calls on memory, for a given time: allocates in every way, frees, maps aliases,
 * exports and imports, captures graphs and replays them, copies, also through the host, all in
 * several streams with events between them, and uses pools. Every second thread has a context of
 * its own. Kernels check the last written data again and again.
 *
 *     fuzzer THREADS SECONDS SEED KERNELS.PTX
 *
 * Out of memory is a normal answer. Any other error, or a wrong byte, ends it with exit code 1 and
 * a line that describes it. In the end everything is freed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fuzzer.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void step(struct fuzzer *f) {
    struct item *item = &f->items[next_random(f) % ITEMS];
    if (item->kind == NONE) {
        make_item(f, item);
        return;
    }
    switch (next_random(f) % 24) {
    case 0:
    case 1: free_item(f, item); break;
    case 2:
    case 3:
    case 4: write_item(f, item); break;
    case 5:
    case 6: copy_item(f, item); break;
    case 7:
    case 8: use_graph(f, item); break;
    case 9:
    case 15:
    case 16:
        if (item->kind == HANDLE)
            use_handle(f, item);
        break;
    case 10: keep_busy(f, any_stream(f), 100000); break;
    case 11: see(f); break;
    case 12: ask_about(item); break;
    case 13: usleep((useconds_t)(next_random(f) % 3000)); break;
    case 14: copy_through_host(f, item); break;
    case 17:
    case 18:
    case 19: play_with_pools(f); break;
    default: check_item(f, item);
    }
}

static void open_fuzzer(struct fuzzer *f) {
    CUmemPoolProps pool = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                           .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    f->host = malloc(LARGEST);
    DO(cuCtxSetCurrent(f->context));
    DO(cuMemPoolCreate(&f->pool, &pool));
    while (cuMemAlloc(&f->wrong, sizeof(uint64_t)) != CUDA_SUCCESS)
        usleep(1000);
    DO(cuMemcpyHtoD(f->wrong, &(uint64_t){0}, sizeof(uint64_t)));
    for (int i = 0; i < STREAMS; i++)
        DO(cuStreamCreate(&f->streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < ITEMS; i++)
        DO(cuEventCreate(&f->items[i].used, CU_EVENT_DISABLE_TIMING));
}

static void close_fuzzer(struct fuzzer *f) {
    for (int i = 0; i < ITEMS; i++) {
        if (f->items[i].kind != NONE)
            free_item(f, &f->items[i]);
        DO(cuEventDestroy(f->items[i].used));
    }
    see(f);
    for (int i = 0; i < STREAMS; i++)
        DO(cuStreamDestroy(f->streams[i]));
    DO(cuMemFree(f->wrong));
    DO(cuMemPoolDestroy(f->pool));
    free(f->host);
}

static void *run(void *argument) {
    struct fuzzer *f = argument;
    open_fuzzer(f);
    for (; now() < f->until; f->steps++)
        step(f);
    close_fuzzer(f);
    return NULL;
}

/* The device's own context, or another one. */
static CUcontext get_context(bool is_own) {
    CUcontext context;
    if (is_own)
        DO(cuCtxCreate(&context, NULL, 0, 0));
    else
        DO(cuDevicePrimaryCtxRetain(&context, 0));
    DO(cuCtxSetCurrent(context));
    return context;
}

static void prepare(struct fuzzer *f, const char *ptx, char **argv, long i) {
    CUmodule module;
    f->random = (strtoull(argv[3], NULL, 10) * 64 + (uint64_t)i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    f->until = now() + atof(argv[2]);
    f->context = get_context(i % 2);
    DO(cuModuleLoadData(&module, ptx));
    DO(cuModuleGetFunction(&f->pattern, module, "nvshare_pattern_u64"));
    DO(cuModuleGetFunction(&f->count, module, "nvshare_count_mismatches_u64"));
    DO(cuModuleGetFunction(&f->spin, module, "nvshare_spin"));
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: fuzzer THREADS SECONDS SEED KERNELS.PTX\n");
        return 2;
    }
    bear_interruptions();
    long threads = atol(argv[1]);
    struct fuzzer *fuzzers = calloc((size_t)threads, sizeof *fuzzers);
    char *ptx = read_file(argv[4]);
    DO(cuInit(0));
    for (long i = 0; i < threads; i++) {
        prepare(&fuzzers[i], ptx, argv, i);
        pthread_create(&fuzzers[i].thread, NULL, run, &fuzzers[i]);
    }
    uint64_t steps = 0;
    for (long i = 0; i < threads; i++) {
        pthread_join(fuzzers[i].thread, NULL);
        steps += fuzzers[i].steps;
    }
    free(fuzzers);
    free(ptx);
    printf("%" PRIu64 " steps\n", steps);
    return 0;
}
