/* The mover and all below it, on a driver that is a table of blocks, while threads allocate, free, destroy
 * contexts and change their minds. Prints nothing if all is well.
 *
 *     mover_check SEED ROUNDS evict|ignore     what a prefetch onto a full GPU does */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "books.h"
#include "clock.h"
#include "contexts.h"
#include "devices.h"
#include "log.h"
#include "residency.h"
#include "session.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { ALLOCATIONS = 24, BLOCKS = 48, CAPACITY = 600, QUEUE = 4096, FREERS = 2 };

#define BASE UINT64_C(0x7f0000000000)
#define SPAN (64 * RESIDENCY_BLOCK)

/* The driver: which blocks of which allocation are on the GPU, and what is queued. */
static struct {
    pthread_mutex_t lock;
    bool exists[ALLOCATIONS], on_gpu[ALLOCATIONS][BLOCKS];
    unsigned used; /* blocks of the GPU */
    bool evicts;
    struct {
        uint64_t address, bytes;
        CUdevice target;
    } queue[QUEUE];
    size_t pushed, done;
    unsigned streams;
    bool is_forbidden; /* a context is being destroyed: nobody may use one */
} gpu = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct device device;
static struct context context = {.device = &device, .handle = (CUcontext)1};
struct books books = {.memory = LEDGER_INITIALIZER};
struct driver_calls real;

static void evict_one(void) {
    for (int i = 0; i < ALLOCATIONS; i++)
        for (int b = 0; b < BLOCKS; b++)
            if (gpu.on_gpu[i][b]) {
                gpu.on_gpu[i][b] = false;
                gpu.used--;
                return;
            }
}

static void put(int i, int block, CUdevice target) {
    bool *on_gpu = &gpu.on_gpu[i][block];
    if (target == CU_DEVICE_CPU) {
        gpu.used -= *on_gpu;
        *on_gpu = false;
    } else if (!*on_gpu) {
        if (gpu.used == CAPACITY && gpu.evicts)
            evict_one();
        if (gpu.used == CAPACITY)
            return;
        gpu.used++;
        *on_gpu = true;
    }
}

/* What was sent must still be there when its time comes. */
static void carry_out(size_t until) {
    for (; gpu.done < until; gpu.done++) {
        uint64_t offset = gpu.queue[gpu.done % QUEUE].address - BASE;
        uint64_t end = offset + gpu.queue[gpu.done % QUEUE].bytes;
        int i = (int)(offset / SPAN);
        CHECK(gpu.exists[i]);
        for (uint64_t at = offset; at < end; at += RESIDENCY_BLOCK)
            put(i, (int)(at % SPAN / RESIDENCY_BLOCK), gpu.queue[gpu.done % QUEUE].target);
    }
}

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUdevice target, CUstream stream) {
    (void)stream;
    pthread_mutex_lock(&gpu.lock);
    CHECK(!gpu.is_forbidden && gpu.pushed - gpu.done < QUEUE);
    int i = (int)((address - BASE) / SPAN);
    bool exists = gpu.exists[i];
    if (exists) {
        gpu.queue[gpu.pushed % QUEUE].address = address;
        gpu.queue[gpu.pushed % QUEUE].bytes = bytes;
        gpu.queue[gpu.pushed++ % QUEUE].target = target;
    }
    pthread_mutex_unlock(&gpu.lock);
    return exists ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult record(CUevent event, CUstream stream) {
    (void)stream;
    pthread_mutex_lock(&gpu.lock);
    *(size_t *)event = gpu.pushed;
    pthread_mutex_unlock(&gpu.lock);
    return CUDA_SUCCESS;
}

static CUresult synchronize(CUevent event) {
    usleep(20);
    pthread_mutex_lock(&gpu.lock);
    CHECK(!gpu.is_forbidden);
    carry_out(*(size_t *)event);
    pthread_mutex_unlock(&gpu.lock);
    return CUDA_SUCCESS;
}

static CUresult create_event(CUevent *event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof(size_t));
    return CUDA_SUCCESS;
}

static CUresult destroy_event(CUevent event) {
    free(event);
    return CUDA_SUCCESS;
}

static CUresult count_stream(int by) {
    pthread_mutex_lock(&gpu.lock);
    CHECK(!gpu.is_forbidden);
    gpu.streams += (unsigned)by;
    pthread_mutex_unlock(&gpu.lock);
    return CUDA_SUCCESS;
}

static CUresult create_stream(CUstream *stream, unsigned flags) {
    (void)flags;
    *stream = (CUstream)1;
    return count_stream(1);
}

static CUresult destroy_stream(CUstream stream) {
    (void)stream;
    return count_stream(-1);
}

static CUresult get_info(size_t *free, size_t *total) {
    pthread_mutex_lock(&gpu.lock);
    *free = (CAPACITY - gpu.used) * RESIDENCY_BLOCK;
    pthread_mutex_unlock(&gpu.lock);
    *total = CAPACITY * RESIDENCY_BLOCK;
    return CUDA_SUCCESS;
}

static CUresult push(CUcontext handle) {
    (void)handle;
    return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *handle) {
    (void)handle;
    return CUDA_SUCCESS;
}

static CUresult exchange(CUstreamCaptureMode *mode) {
    (void)mode;
    return CUDA_SUCCESS;
}

/* The rest of the interposer, as far as it is needed. */
void contexts_lock(void) {}
void contexts_unlock(void) {}
struct context *contexts_first(void) {
    return &context;
}
void session_knock(void *nothing) {
    (void)nothing;
}
void log_line(enum log_level level, const char *format, ...) {
    (void)level;
    (void)format;
}

static void allocate(int i, unsigned *random) {
    uint64_t blocks = 1 + (unsigned)rand_r(random) % BLOCKS;
    struct ledger_entry entry = {.key = BASE + (uint64_t)i * SPAN,
                                 .bytes = blocks * RESIDENCY_BLOCK,
                                 .account = &device.account,
                                 .kind = LEDGER_CONVERTED,
                                 .away = blocks * RESIDENCY_BLOCK};
    pthread_mutex_lock(&gpu.lock);
    gpu.exists[i] = true;
    pthread_mutex_unlock(&gpu.lock);
    CHECK(account_reserve(&device.account, entry.bytes, false) == 0);
    atomic_fetch_add(&device.account.away, entry.away);
    CHECK(ledger_add(&books.memory, &entry) == 0);
}

static void release(int i) {
    struct ledger_entry *taken = ledger_take(&books.memory, BASE + (uint64_t)i * SPAN);
    pthread_mutex_lock(&gpu.lock);
    gpu.exists[i] = false;
    for (int b = 0; b < BLOCKS; b++) {
        gpu.used -= gpu.on_gpu[i][b];
        gpu.on_gpu[i][b] = false;
    }
    pthread_mutex_unlock(&gpu.lock);
    ledger_drop(taken);
}

struct freer {
    int number, rounds;
    unsigned random;
    pthread_t thread;
};

/* Allocations of its own, half of them at a time. */
static void *allocate_and_free(void *argument) {
    struct freer *freer = argument;
    bool has[ALLOCATIONS] = {false};
    for (int round = 0; round < freer->rounds; round++) {
        int i = rand_r(&freer->random) % (ALLOCATIONS / FREERS) * FREERS + freer->number;
        if (has[i])
            release(i);
        else
            allocate(i, &freer->random);
        has[i] = !has[i];
        usleep(50);
    }
    return NULL;
}

static void destroy_a_context(void) {
    mover_bar(&device.mover);
    pthread_mutex_lock(&gpu.lock);
    CHECK(gpu.streams == 0);
    gpu.is_forbidden = true;
    pthread_mutex_unlock(&gpu.lock);
    usleep(100);
    pthread_mutex_lock(&gpu.lock);
    gpu.is_forbidden = false;
    pthread_mutex_unlock(&gpu.lock);
    mover_unbar(&device.mover);
}

static void give_orders(unsigned *random, int rounds) {
    static const enum mover_job jobs[] = {MOVER_REST, MOVER_OUT, MOVER_FILL, MOVER_FILL_GENTLY};
    struct mover_progress progress;
    for (int round = 0; round < rounds; round++) {
        uint64_t bytes = (uint64_t)(rand_r(random) % CAPACITY) * RESIDENCY_BLOCK;
        switch (rand_r(random) % 6) {
        case 0: destroy_a_context(); break;
        case 1: mover_order_more(&device.mover, bytes); break;
        case 2: mover_take(&device.mover, &progress); break;
        default: CHECK(mover_order(&device.mover, jobs[rand_r(random) % 4], bytes) == 0);
        }
        CHECK(mover_away(&device.mover) <= (uint64_t)ALLOCATIONS * BLOCKS * RESIDENCY_BLOCK);
        usleep((unsigned)rand_r(random) % 300);
    }
}

static void wait_until_idle(void) {
    while (mover_is_busy(&device.mover))
        usleep(100);
}

/* What is away by the books is what is away. */
static void compare(void) {
    uint64_t away = 0;
    for (int i = 0; i < ALLOCATIONS; i++) {
        struct ledger_entry entry;
        if (ledger_find(&books.memory, BASE + (uint64_t)i * SPAN, &entry) < 0)
            continue;
        away += entry.away;
        CHECK(entry.moves == 0);
        for (uint64_t b = 0; b < entry.bytes / RESIDENCY_BLOCK; b++)
            CHECK(gpu.on_gpu[i][b] == (b >= entry.away / RESIDENCY_BLOCK));
    }
    CHECK(away == atomic_load(&device.account.away));
}

static void prepare(bool evicts) {
    gpu.evicts = evicts;
    real.cuMemPrefetchAsync = prefetch;
    real.cuMemGetInfo_v2 = get_info;
    real.cuEventCreate = create_event;
    real.cuEventDestroy_v2 = destroy_event;
    real.cuEventRecord = record;
    real.cuEventSynchronize = synchronize;
    real.cuStreamCreate = create_stream;
    real.cuStreamDestroy_v2 = destroy_stream;
    real.cuCtxPushCurrent_v2 = push;
    real.cuCtxPopCurrent_v2 = pop;
    real.cuThreadExchangeStreamCaptureMode = exchange;
    device.total_bytes = CAPACITY * RESIDENCY_BLOCK;
    atomic_store(&device.account.limit, UINT64_MAX);
    gate_init(&device.gate, session_knock, NULL);
    mover_init(&device.mover, &device);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    unsigned random = (unsigned)atoi(argv[1]);
    int rounds = atoi(argv[2]);
    prepare(strcmp(argv[3], "evict") == 0);
    struct freer freers[FREERS];
    for (int i = 0; i < FREERS; i++) {
        freers[i] = (struct freer){.number = i, .rounds = 3 * rounds, .random = random + 1u + i};
        CHECK(pthread_create(&freers[i].thread, NULL, allocate_and_free, &freers[i]) == 0);
    }
    give_orders(&random, rounds);
    for (int i = 0; i < FREERS; i++)
        pthread_join(freers[i].thread, NULL);
    mover_order(&device.mover, MOVER_OUT, UINT64_MAX);
    wait_until_idle();
    compare();
    CHECK(account_there(&device.account) == 0 && gpu.used == 0);
    mover_order(&device.mover, MOVER_FILL_GENTLY, UINT64_MAX);
    wait_until_idle();
    compare();
    mover_stop(&device.mover);
    CHECK(gpu.streams == 0);
    return 0;
}
