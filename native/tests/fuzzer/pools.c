/* Pools: memory that comes and goes in the order of streams, with nothing else between its users. */
#include <stdio.h>

#include "fuzzer.h"

enum { ROUNDS = 12, SIZES = 4 };

static CUmemoryPool any_pool(struct fuzzer *f) {
    CUmemoryPool pool = f->pool;
    if (chance(f, 2))
        DO(cuDeviceGetDefaultMemPool(&pool, 0));
    return pool;
}

/* Few sizes, so that freed memory is used again. */
static uint64_t any_words(struct fuzzer *f) {
    static const uint64_t bytes[SIZES] = {4096, 300 << 10, 2 * MIB, 5 * MIB};
    return bytes[next_random(f) % SIZES] / 8;
}

/* Freed by another stream: after an event, as every program has to. */
static void free_elsewhere(struct fuzzer *f, CUdeviceptr at, CUstream from) {
    CUstream to = any_stream(f);
    CUevent event;
    DO(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DO(cuEventRecord(event, from));
    DO(cuStreamWaitEvent(to, event, 0));
    DO(cuEventDestroy(event));
    DO(cuMemFreeAsync(at, to));
}

/* It is written and checked while others may get it too early. */
static bool use_once(struct fuzzer *f, CUmemoryPool pool) {
    CUstream stream = any_stream(f);
    uint64_t words = any_words(f), seed = next_random(f);
    CUdeviceptr at;
    CUresult result = cuMemAllocFromPoolAsync(&at, words * 8, pool, stream);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return false;
    if (result != CUDA_SUCCESS)
        fail("cuMemAllocFromPoolAsync", result);
    launch_pattern(f, at, words, seed, stream);
    if (chance(f, 3))
        keep_busy(f, stream, 5000);
    launch_count(f, at, words, seed, stream);
    if (chance(f, 4))
        free_elsewhere(f, at, stream);
    else
        DO(cuMemFreeAsync(at, stream));
    return true;
}

static void churn(struct fuzzer *f) {
    CUmemoryPool pool = any_pool(f);
    for (int i = 0; i < ROUNDS && use_once(f, pool); i++)
        continue;
}

static void set_threshold(struct fuzzer *f) {
    const uint64_t choices[] = {0, 8 * MIB, UINT64_MAX};
    cuuint64_t threshold = choices[next_random(f) % 3];
    DO(cuMemPoolSetAttribute(any_pool(f), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
}

/* The pool is this thread's own, so that it does not change between two queries. Its allocations
 * are in use. */
static void ask(struct fuzzer *f) {
    cuuint64_t used, reserved;
    DO(cuMemPoolGetAttribute(f->pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    DO(cuMemPoolGetAttribute(f->pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    for (int i = 0; i < ITEMS; i++)
        if (f->items[i].kind == OWN_POOL)
            used -= (f->items[i].words * 8 + 511) / 512 * 512;
    if (used > reserved || reserved > (cuuint64_t)1 << 40) {
        fprintf(stderr, "fuzzer: %llu of %llu bytes of the pool are in use\n",
                (unsigned long long)used, (unsigned long long)reserved);
        fail("cuMemPoolGetAttribute", CUDA_SUCCESS);
    }
}

void play_with_pools(struct fuzzer *f) {
    switch (next_random(f) % 8) {
    case 0: set_threshold(f); break;
    case 1: DO(cuMemPoolTrimTo(any_pool(f), next_random(f) % (16 * MIB))); break;
    case 2: ask(f); break;
    default: churn(f);
    }
}
