/* What the parts of the fuzzer have in common: its state, chance, and work on the GPU. */
#ifndef NVSHARE_TESTS_FUZZER_H
#define NVSHARE_TESTS_FUZZER_H

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { ITEMS = 8, STREAMS = 3, MIB = 1 << 20, GRAIN = 2 * MIB };

enum kind { NONE, PLAIN, SMALL, MANAGED, HANDLE, POOL, OWN_POOL, KINDS };

struct item {
    enum kind kind;
    CUdeviceptr at, alias; /* no alias: 0 */
    uint64_t words, bytes, seed;
    CUmemGenericAllocationHandle handle;
    bool is_released; /* the handle; its mappings keep the memory */
    CUevent used;     /* by the last work on it */
    CUgraphExec graph;
    uint64_t graph_seed;
};

struct fuzzer {
    uint64_t random, steps;
    double until;
    CUcontext context;
    CUfunction pattern, count, spin;
    CUdeviceptr wrong; /* one word, to which the kernel adds what it finds */
    CUmemoryPool pool;
    CUstream streams[STREAMS];
    struct item items[ITEMS];
    pthread_t thread;
};

/* Ends the program, and says why. */
void fail(const char *what, CUresult result);

#define DO(call)                                                                                   \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS)                                                               \
            fail(#call, result_);                                                                  \
    } while (0)

uint64_t next_random(struct fuzzer *f);
bool chance(struct fuzzer *f, unsigned one_in);
CUstream any_stream(struct fuzzer *f);
void launch_pattern(struct fuzzer *f, CUdeviceptr at, uint64_t words, uint64_t seed,
                    CUstream stream);
void launch_count(struct fuzzer *f, CUdeviceptr at, uint64_t words, uint64_t seed, CUstream stream);

/* A stream is busy for up to so long. */
void keep_busy(struct fuzzer *f, CUstream stream, uint64_t microseconds);

/* Does something at random with pools. */
void play_with_pools(struct fuzzer *f);

#endif
