/* Hammers the driver with all kinds of calls from several threads, and checks every byte it gets
 * back.
 *
 *     hammer THREADS ROUNDS SEED KERNELS.PTX
 *
 * ROUNDS 0 goes on until it is killed. Out of memory is a normal answer here: other processes
 * hammer too. Any other error, or a wrong byte, ends it with exit code 1 and a line that describes
 * it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

struct worker {
    uint64_t random;
    long rounds;
    CUcontext context;
    CUstream stream;
    CUfunction pattern, spin;
    pthread_t thread;
};

enum { WORDS = 1 << 15, BYTES = WORDS * 8 };

/* Makes a call that may run out of memory; in that case the step ends. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ == CUDA_ERROR_OUT_OF_MEMORY)                                                   \
            return;                                                                                \
        if (result_ != CUDA_SUCCESS)                                                               \
            fail(#call, result_);                                                                  \
    } while (0)

static uint64_t next_random(struct worker *w) {
    return random_after(&w->random);
}

/* The words that nvshare_pattern_u64 writes. */
static uint64_t expected(uint64_t seed, uint64_t i) {
    uint64_t z = seed + i * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void check_pattern(const uint64_t *words, uint64_t count, uint64_t seed, const char *where) {
    for (uint64_t i = 0; i < count; i++) {
        if (words[i] != expected(seed, i)) {
            fprintf(stderr, "hammer: %s: word %llu is wrong\n", where, (unsigned long long)i);
            exit(1);
        }
    }
}

static void write_pattern(struct worker *w, CUdeviceptr at, uint64_t count, uint64_t seed) {
    void *parameters[] = {&at, &count, &seed};
    DO(cuLaunchKernel(w->pattern, 8, 1, 1, 128, 1, 1, 0, w->stream, parameters, NULL));
}

static void plain_round_trip(struct worker *w) {
    static _Thread_local uint64_t back[WORDS];
    uint64_t count = 1 + next_random(w) % WORDS, seed = next_random(w);
    CUdeviceptr memory;
    TRY(cuMemAlloc(&memory, count * 8));
    write_pattern(w, memory, count, seed);
    DO(cuMemcpyDtoHAsync(back, memory, count * 8, w->stream));
    DO(cuStreamSynchronize(w->stream));
    check_pattern(back, count, seed, "plain memory");
    DO(cuMemFree(memory));
}

static void managed_round_trip(struct worker *w) {
    uint64_t count = 1 + next_random(w) % WORDS, seed = next_random(w);
    CUdeviceptr memory;
    TRY(cuMemAllocManaged(&memory, count * 8, CU_MEM_ATTACH_GLOBAL));
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST},
                  gpu = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    write_pattern(w, memory, count, seed);
    DO(cuMemAdvise(memory, count * 8, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    /* Others may have filled the GPU with memory that cannot be evicted. */
    CUresult result =
        cuMemPrefetchAsync(memory, count * 8, next_random(w) % 2 ? host : gpu, 0, w->stream);
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        DO(result);
    DO(cuMemPrefetchAsync(memory, count * 8, host, 0, w->stream));
    DO(cuMemAdvise(memory, count * 8, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host));
    DO(cuStreamSynchronize(w->stream));
    check_pattern((const uint64_t *)(uintptr_t)memory, count, seed, "managed memory");
    DO(cuMemFree(memory));
}

static void copies(struct worker *w) {
    uint64_t count = 1 + next_random(w) % WORDS, seed = next_random(w);
    uint64_t *pinned;
    CUdeviceptr first, second;
    CUevent event;
    TRY(cuMemAllocHost((void **)&pinned, count * 8));
    for (uint64_t i = 0; i < count; i++)
        pinned[i] = expected(seed, i);
    if (cuMemAlloc(&first, count * 8) == CUDA_SUCCESS) {
        if (cuMemAlloc(&second, count * 8) == CUDA_SUCCESS) {
            DO(cuEventCreate(&event, CU_EVENT_DEFAULT));
            DO(cuMemcpyHtoDAsync(first, pinned, count * 8, w->stream));
            DO(cuMemcpyDtoDAsync(second, first, count * 8, w->stream));
            DO(cuMemsetD8Async(first, 7, count * 8, w->stream));
            DO(cuEventRecord(event, w->stream));
            DO(cuEventSynchronize(event));
            memset(pinned, 0, count * 8);
            DO(cuMemcpyDtoH(pinned, second, count * 8));
            check_pattern(pinned, count, seed, "a copy of a copy");
            DO(cuEventDestroy(event));
            DO(cuMemFree(second));
        }
        DO(cuMemFree(first));
    }
    DO(cuMemFreeHost(pinned));
}

static void pool(struct worker *w) {
    static _Thread_local uint64_t back[WORDS];
    uint64_t count = 1 + next_random(w) % WORDS, seed = next_random(w);
    CUdeviceptr memory;
    TRY(cuMemAllocAsync(&memory, count * 8, w->stream));
    write_pattern(w, memory, count, seed);
    DO(cuMemcpyDtoHAsync(back, memory, count * 8, w->stream));
    DO(cuMemFreeAsync(memory, w->stream));
    DO(cuStreamSynchronize(w->stream));
    check_pattern(back, count, seed, "memory of a pool");
}

static void graph(struct worker *w) {
    static _Thread_local uint64_t back[WORDS];
    uint64_t count = 1 + next_random(w) % WORDS, seed = next_random(w);
    CUdeviceptr memory;
    CUgraph captured;
    CUgraphExec ready;
    TRY(cuMemAlloc(&memory, count * 8));
    /* A non-blocking stream: while a blocking one is captured, the other thread's use of the
     * default stream is an error. */
    CUstream usual = w->stream;
    DO(cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING));
    DO(cuStreamBeginCapture(w->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    DO(cuMemsetD8Async(memory, 1, count * 8, w->stream));
    write_pattern(w, memory, count, seed);
    DO(cuStreamEndCapture(w->stream, &captured));
    DO(cuGraphInstantiate(&ready, captured, 0));
    for (int i = 0; i < 3; i++)
        DO(cuGraphLaunch(ready, w->stream));
    DO(cuStreamSynchronize(w->stream));
    DO(cuMemcpyDtoH(back, memory, count * 8));
    check_pattern(back, count, seed, "what a graph wrote");
    DO(cuGraphExecDestroy(ready));
    DO(cuGraphDestroy(captured));
    DO(cuStreamDestroy(w->stream));
    w->stream = usual;
    DO(cuMemFree(memory));
}

static void mapped(struct worker *w) {
    static _Thread_local uint64_t back[WORDS];
    uint64_t seed = next_random(w);
    CUmemAllocationProp kind = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemAccessDesc access = {.location = kind.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t granule;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    DO(cuMemGetAllocationGranularity(&granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    TRY(cuMemCreate(&handle, granule, &kind, 0));
    DO(cuMemAddressReserve(&address, granule, 0, 0, 0));
    DO(cuMemMap(address, granule, 0, handle, 0));
    DO(cuMemSetAccess(address, granule, &access, 1));
    write_pattern(w, address, WORDS, seed);
    DO(cuMemcpyDtoHAsync(back, address, BYTES, w->stream));
    DO(cuStreamSynchronize(w->stream));
    check_pattern(back, WORDS, seed, "mapped memory");
    DO(cuMemUnmap(address, granule));
    DO(cuMemAddressFree(address, granule));
    DO(cuMemRelease(handle));
}

static void count_call(void *data) {
    __atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

static void host_functions(struct worker *w) {
    int calls = 0;
    uint64_t microseconds = next_random(w) % 200;
    void *parameters[] = {&microseconds};
    for (int i = 0; i < 3; i++) {
        DO(cuLaunchKernel(w->spin, 1, 1, 1, 1, 1, 1, 0, w->stream, parameters, NULL));
        DO(cuLaunchHostFunc(w->stream, count_call, &calls));
    }
    DO(cuStreamSynchronize(w->stream));
    if (calls != 3)
        fail("a host function was not called", CUDA_SUCCESS);
}

static void streams(struct worker *w) {
    CUstream other;
    CUevent event;
    uint64_t microseconds = next_random(w) % 100;
    void *parameters[] = {&microseconds};
    DO(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    DO(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DO(cuLaunchKernel(w->spin, 1, 1, 1, 1, 1, 1, 0, other, parameters, NULL));
    DO(cuEventRecord(event, other));
    DO(cuStreamWaitEvent(w->stream, event, 0));
    DO(cuLaunchKernel(w->spin, 1, 1, 1, 1, 1, 1, 0, w->stream, parameters, NULL));
    DO(cuStreamDestroy(other));
    DO(cuStreamSynchronize(w->stream));
    if (cuEventQuery(event) != CUDA_SUCCESS)
        fail("an event that was waited for has not happened", CUDA_SUCCESS);
    DO(cuEventDestroy(event));
}

static void contexts(struct worker *w) {
    size_t free_bytes, total;
    CUcontext own;
    CUdeviceptr left_behind;
    if (cuCtxCreate(&own, NULL, 0, 0) != CUDA_SUCCESS)
        return;
    cuMemAlloc(&left_behind, 4096);
    DO(cuMemGetInfo(&free_bytes, &total));
    if (free_bytes > total)
        fail("more memory is free than there is", CUDA_SUCCESS);
    DO(cuCtxDestroy(own));
    DO(cuCtxSetCurrent(w->context));
}

static void (*const STEPS[])(struct worker *) = {
    plain_round_trip, managed_round_trip, copies,  pool,     graph,
    mapped,           host_functions,     streams, contexts,
};

static void *hammer(void *argument) {
    struct worker *w = argument;
    DO(cuCtxSetCurrent(w->context));
    DO(cuStreamCreate(&w->stream, next_random(w) % 2 ? CU_STREAM_NON_BLOCKING : 0));
    for (long round = 0; !w->rounds || round < w->rounds; round++)
        STEPS[next_random(w) % (sizeof STEPS / sizeof STEPS[0])](w);
    DO(cuStreamDestroy(w->stream));
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: hammer THREADS ROUNDS SEED KERNELS.PTX\n");
        return 2;
    }
    long threads = atol(argv[1]);
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    CUcontext context;
    CUmodule module;
    char *ptx = read_file(argv[4]);
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, 0));
    DO(cuCtxSetCurrent(context));
    DO(cuModuleLoadData(&module, ptx));
    free(ptx);
    for (long i = 0; i < threads; i++) {
        struct worker *w = &workers[i];
        w->random = (strtoull(argv[3], NULL, 10) + (uint64_t)i + 1) * UINT64_C(0x9E3779B97F4A7C15);
        w->rounds = atol(argv[2]);
        w->context = context;
        DO(cuModuleGetFunction(&w->pattern, module, "nvshare_pattern_u64"));
        DO(cuModuleGetFunction(&w->spin, module, "nvshare_spin"));
        pthread_create(&w->thread, NULL, hammer, w);
    }
    for (long i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
    DO(cuDevicePrimaryCtxRelease(0));
    puts("ok");
    return 0;
}
