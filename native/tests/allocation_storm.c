/* Threads that allocate, free and destroy contexts at random, and record what they hold.
 *
 *     allocation_storm THREADS STEPS
 *
 * Each thread has a context of its own. At the end of every round all threads hold still. Then the
 * use that the driver (or the interposer in front of it) reports, without the memory that the pool
 * keeps, is compared with the sum of their records. Prints the differences, and how much was done.
 * Linked to libcuda. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>

enum { HELD = 64, ROUNDS = 20, BLOCK = 2 << 20 };

enum kind { NONE, PLAIN, PITCH, MANAGED, POOL, ARRAY, PHYSICAL, KINDS };

struct held {
    enum kind kind;
    CUdeviceptr address;
    uint64_t handle; /* of an array, or of physical memory */
    uint64_t bytes;
};

struct thread {
    pthread_t thread;
    unsigned seed;
    long steps;
    CUcontext context;
    struct held held[HELD];
    long done[KINDS], destroyed;
};

static pthread_barrier_t barrier;
static struct thread *threads;
static int thread_count, differences;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s: %d\n", #call, result_);                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The freed memory that the pool keeps. */
static uint64_t kept_by_pool(void) {
    CUmemoryPool pool;
    cuuint64_t reserved, used;
    MUST(cuDeviceGetDefaultMemPool(&pool, 0));
    MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    return reserved - used;
}

static uint64_t in_use(void) {
    size_t left, total;
    MUST(cuMemGetInfo(&left, &total));
    return total - left - kept_by_pool();
}

static CUresult make_array(struct held *held, size_t width) {
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = width, .Height = 3, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    CUarray array;
    CUresult result = cuArrayCreate(&array, &shape);
    held->handle = (uintptr_t)array;
    held->bytes = width * 3 * 4 * 2;
    return result;
}

/* Mapped, and released at once: the mapping keeps it. */
static CUresult make_physical(struct held *held) {
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle handle;
    held->bytes = BLOCK;
    CUresult result = cuMemCreate(&handle, BLOCK, &properties, 0);
    if (result != CUDA_SUCCESS)
        return result;
    MUST(cuMemAddressReserve(&held->address, BLOCK, 0, 0, 0));
    MUST(cuMemMap(held->address, BLOCK, 0, handle, 0));
    MUST(cuMemRelease(handle));
    return CUDA_SUCCESS;
}

static CUresult make(struct thread *thread, struct held *held, enum kind kind) {
    size_t size = 1 + (size_t)rand_r(&thread->seed) % 5000, pitch;
    held->bytes = size;
    CUresult result = CUDA_SUCCESS;
    switch (kind) {
    case PLAIN: return cuMemAlloc(&held->address, size);
    case MANAGED: return cuMemAllocManaged(&held->address, size, CU_MEM_ATTACH_GLOBAL);
    case POOL: return cuMemAllocAsync(&held->address, size, NULL);
    case ARRAY: return make_array(held, size);
    case PHYSICAL: return make_physical(held);
    case PITCH:
        result = cuMemAllocPitch(&held->address, &pitch, size, 3, 4);
        held->bytes = pitch * 3;
        return result;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static void let_go(struct held *held) {
    switch (held->kind) {
    case POOL: MUST(cuMemFreeAsync(held->address, NULL)); break;
    case ARRAY: MUST(cuArrayDestroy((CUarray)(uintptr_t)held->handle)); break;
    case PHYSICAL:
        MUST(cuMemUnmap(held->address, BLOCK));
        MUST(cuMemAddressFree(held->address, BLOCK));
        break;
    default: MUST(cuMemFree(held->address)); break;
    }
    held->kind = NONE;
}

/* Pools and physical memory belong to the device, and outlive the context. */
static void destroy_context(struct thread *thread) {
    MUST(cuCtxDestroy(thread->context));
    for (int i = 0; i < HELD; i++)
        if (thread->held[i].kind != POOL && thread->held[i].kind != PHYSICAL)
            thread->held[i].kind = NONE;
    MUST(cuCtxCreate(&thread->context, NULL, 0, 0));
    thread->destroyed++;
}

static void step(struct thread *thread) {
    struct held *held = &thread->held[rand_r(&thread->seed) % HELD];
    if (rand_r(&thread->seed) % 5000 == 0) {
        destroy_context(thread);
    } else if (held->kind != NONE) {
        let_go(held);
    } else {
        enum kind kind = 1 + rand_r(&thread->seed) % (KINDS - 1);
        CUresult result = make(thread, held, kind);
        if (result == CUDA_SUCCESS) {
            held->kind = kind;
            thread->done[kind]++;
        } else if (result != CUDA_ERROR_OUT_OF_MEMORY) {
            fprintf(stderr, "kind %d: %d\n", kind, result);
            exit(1);
        }
    }
}

static void compare(void) {
    uint64_t held = 0;
    for (int t = 0; t < thread_count; t++)
        for (int i = 0; i < HELD; i++)
            if (threads[t].held[i].kind != NONE)
                held += threads[t].held[i].bytes;
    if (held != in_use()) {
        printf("held %llu, in use %llu\n", (unsigned long long)held, (unsigned long long)in_use());
        differences++;
    }
}

static void *run(void *argument) {
    struct thread *thread = argument;
    MUST(cuCtxCreate(&thread->context, NULL, 0, 0));
    for (int round = 0; round < ROUNDS; round++) {
        for (long i = 0; i < thread->steps / ROUNDS; i++)
            step(thread);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            compare();
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < HELD; i++)
        if (thread->held[i].kind != NONE)
            let_go(&thread->held[i]);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void report(void) {
    static const char *const names[] = {"none", "plain", "pitch",   "managed",
                                        "pool", "array", "physical"};
    for (int k = PLAIN; k < KINDS; k++) {
        long sum = 0;
        for (int t = 0; t < thread_count; t++)
            sum += threads[t].done[k];
        printf("%s=%ld ", names[k], sum);
    }
    long destroyed = 0;
    for (int t = 0; t < thread_count; t++)
        destroyed += threads[t].destroyed;
    printf("contexts=%ld differences=%d at_end=%llu\n", destroyed, differences,
           (unsigned long long)in_use());
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    thread_count = atoi(arguments[1]);
    threads = calloc((size_t)thread_count, sizeof *threads);
    pthread_barrier_init(&barrier, NULL, (unsigned)thread_count);
    MUST(cuInit(0));
    for (int t = 0; t < thread_count; t++) {
        threads[t].seed = (unsigned)t + 1;
        threads[t].steps = atol(arguments[2]) / thread_count;
        pthread_create(&threads[t].thread, NULL, run, &threads[t]);
    }
    for (int t = 0; t < thread_count; t++)
        pthread_join(threads[t].thread, NULL);
    CUcontext context;
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    report();
    fflush(stdout);
    getchar(); /* the test looks at the node while the process is there */
    return differences != 0;
}
