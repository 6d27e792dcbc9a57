/* Processes with threads that allocate and free at random under one limit, and record what they
 * hold.
 *
 *     limit_storm PROCESSES THREADS STEPS LIMIT
 *
 * The total is increased after an allocation has succeeded, and decreased before it is freed. So it
 * is never more than the really allocated memory, and must never exceed the limit. Then all
 * allocate until they are refused, and hold still. A refused size must have no room now either,
 * since nothing was freed; and the driver (or the interposer in front of it) must know how much is
 * left, to the byte. Prints how much was done. Linked to libcuda. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

enum { HELD = 512, ROUNDS = 5, LARGEST = 65536, REFUSALS = 10 };

/* Of all processes. */
struct shared {
    pthread_barrier_t barrier;
    _Atomic uint64_t held, least_refused;
    _Atomic long allocations, refusals;
};

struct thread {
    pthread_t thread;
    unsigned seed;
    CUdeviceptr address[HELD];
    uint64_t bytes[HELD];
};

static struct shared *shared;
static uint64_t limit;
static long steps;
static CUcontext context;

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            kill(0, SIGTERM); /* the others would wait for this one */                             \
        }                                                                                          \
    } while (0)

/* Returns whether there was room. */
static bool take(struct thread *thread, int i) {
    uint64_t bytes = 1 + (uint64_t)(rand_r(&thread->seed) % LARGEST);
    CUresult result = cuMemAlloc(&thread->address[i], bytes);
    MUST(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY);
    if (result != CUDA_SUCCESS) {
        uint64_t least = atomic_load(&shared->least_refused);
        while (bytes < least &&
               !atomic_compare_exchange_weak(&shared->least_refused, &least, bytes))
            continue;
        atomic_fetch_add(&shared->refusals, 1);
        return false;
    }
    thread->bytes[i] = bytes;
    atomic_fetch_add(&shared->allocations, 1);
    MUST(atomic_fetch_add(&shared->held, bytes) + bytes <= limit);
    return true;
}

static void give(struct thread *thread, int i) {
    atomic_fetch_sub(&shared->held, thread->bytes[i]);
    thread->bytes[i] = 0;
    MUST(cuMemFree(thread->address[i]) == CUDA_SUCCESS);
}

static void play(struct thread *thread) {
    for (long step = 0; step < steps / ROUNDS; step++) {
        int i = rand_r(&thread->seed) % HELD;
        if (thread->bytes[i])
            give(thread, i);
        else
            take(thread, i);
    }
}

static void fill(struct thread *thread) {
    for (int i = 0, refused = 0; i < HELD && refused < REFUSALS; i++)
        if (!thread->bytes[i] && !take(thread, i))
            refused++;
}

static void look(uint64_t held) {
    size_t left, total;
    MUST(cuMemGetInfo(&left, &total) == CUDA_SUCCESS);
    MUST(total == limit && left == limit - held);
}

/* All threads meet here; one of them does it, and none goes on before. */
#define ONE_OF_ALL(action)                                                                         \
    do {                                                                                           \
        if (pthread_barrier_wait(&shared->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {             \
            action;                                                                                \
        }                                                                                          \
        pthread_barrier_wait(&shared->barrier);                                                    \
    } while (0)

static void *run(void *argument) {
    struct thread *thread = argument;
    MUST(cuCtxSetCurrent(context) == CUDA_SUCCESS);
    for (int round = 0; round < ROUNDS; round++) {
        play(thread);
        ONE_OF_ALL(atomic_store(&shared->least_refused, UINT64_MAX));
        fill(thread);
        ONE_OF_ALL(look(atomic_load(&shared->held));
                   MUST(atomic_load(&shared->least_refused) > limit - atomic_load(&shared->held)));
        for (int i = 0; i < HELD; i++)
            if (thread->bytes[i])
                give(thread, i);
        ONE_OF_ALL(look(0));
    }
    return NULL;
}

static void run_process(int number, int thread_count) {
    struct thread *threads = calloc((size_t)thread_count, sizeof *threads);
    MUST(cuInit(0) == CUDA_SUCCESS && cuCtxCreate(&context, NULL, 0, 0) == CUDA_SUCCESS);
    for (int t = 0; t < thread_count; t++) {
        threads[t].seed = (unsigned)(number * thread_count + t + 1);
        pthread_create(&threads[t].thread, NULL, run, &threads[t]);
    }
    for (int t = 0; t < thread_count; t++)
        pthread_join(threads[t].thread, NULL);
    exit(0);
}

int main(int count, char **arguments) {
    if (count != 5)
        return 2;
    int processes = atoi(arguments[1]), threads = atoi(arguments[2]), failures = 0;
    steps = atol(arguments[3]) / (processes * threads);
    limit = strtoull(arguments[4], NULL, 10);
    setpgid(0, 0); /* so that a failure ends all of these processes, and no others */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attributes, (unsigned)(processes * threads));
    for (int number = 0; number < processes; number++)
        if (fork() == 0)
            run_process(number, threads);
    for (int number = 0, status; number < processes; number++)
        failures += wait(&status) < 0 || status != 0;
    printf("allocations=%ld refusals=%ld failures=%d\n", atomic_load(&shared->allocations),
           atomic_load(&shared->refusals), failures);
    return failures != 0;
}
