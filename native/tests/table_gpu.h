/* A driver that is a table of blocks, and the rest of the interposer as far as the mover needs it.
 * For the programs mover_check.c and pacing_check.c. */
#ifndef NVSHARE_TESTS_TABLE_GPU_H
#define NVSHARE_TESTS_TABLE_GPU_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "memory/allocations.h"
#include "moves/residency.h"
#include "process/clock.h"
#include "process/contexts.h"
#include "process/devices.h"
#include "session/session.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { ALLOCATIONS = 24, BLOCKS = 48, QUEUE = 4096 };

#define BASE UINT64_C(0x7f0000000000)
#define SPAN (64 * RESIDENCY_BLOCK)

struct call {
    uint64_t address, bytes;
    CUdevice target;
};

/* The blocks of each allocation on the GPU, and the queue. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool exists[ALLOCATIONS];
    uint64_t served[ALLOCATIONS][BLOCKS]; /* when it last was; 0: it is not on the GPU */
    uint64_t last_served;
    unsigned used, capacity; /* blocks of the GPU */
    bool is_blocking;        /* a call to the host does the work itself */
    unsigned block_us;       /* that this takes for a block */
    bool is_held;            /* and it does not get on with it */
    struct call queue[QUEUE];
    size_t pushed, done;
    unsigned streams;
    bool is_forbidden;   /* a context is being destroyed: none may be used */
    uint64_t out, in;    /* blocks that have crossed the bus, but not by eviction */
    unsigned knocks;     /* at the session */
    uint64_t most_bytes; /* of a call to the host, after the first few */
    unsigned calls_out;
} gpu = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .capacity = UINT32_MAX};

static struct device device;
static struct context context = {.device = &device, .handle = (CUcontext)1};
struct allocations allocations = {.memory = LEDGER_INITIALIZER};
struct driver_calls real;

static void evict_one(void) {
    uint64_t *oldest = NULL;
    for (int i = 0; i < ALLOCATIONS; i++)
        for (int b = 0; b < BLOCKS; b++)
            if (gpu.served[i][b] && (!oldest || gpu.served[i][b] < *oldest))
                oldest = &gpu.served[i][b];
    CHECK(oldest);
    *oldest = 0;
    gpu.used--;
}

static void put(int i, int block, CUdevice target) {
    uint64_t *served = &gpu.served[i][block];
    bool is_there = *served > 0;
    if (target == CU_DEVICE_CPU) {
        gpu.out += is_there;
        gpu.used -= is_there;
        *served = 0;
        return;
    }
    if (!is_there && gpu.used == gpu.capacity)
        evict_one();
    gpu.in += !is_there;
    gpu.used += !is_there;
    *served = ++gpu.last_served;
}

/* Queued memory must still exist when its time comes. */
static void carry_out(const struct call *call) {
    uint64_t offset = call->address - BASE, end = offset + call->bytes;
    int i = (int)(offset / SPAN);
    CHECK(gpu.exists[i]);
    for (uint64_t at = offset; at < end; at += RESIDENCY_BLOCK)
        put(i, (int)(at % SPAN / RESIDENCY_BLOCK), call->target);
}

static void carry_out_until(size_t until) {
    for (; gpu.done < until; gpu.done++)
        carry_out(&gpu.queue[gpu.done % QUEUE]);
}

/* With the lock held, except while the work takes time. */
static void work(const struct call *call) {
    pthread_mutex_unlock(&gpu.lock);
    usleep((unsigned)(call->bytes / RESIDENCY_BLOCK) * gpu.block_us);
    pthread_mutex_lock(&gpu.lock);
    while (gpu.is_held)
        pthread_cond_wait(&gpu.changed, &gpu.lock);
    carry_out(call);
    if (++gpu.calls_out > 4 && call->bytes > gpu.most_bytes)
        gpu.most_bytes = call->bytes;
}

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUdevice target, CUstream stream) {
    (void)stream;
    struct call call = {address, bytes, target};
    pthread_mutex_lock(&gpu.lock);
    CHECK(!gpu.is_forbidden && gpu.pushed - gpu.done < QUEUE);
    bool exists = gpu.exists[(address - BASE) / SPAN];
    if (exists && gpu.is_blocking && target == CU_DEVICE_CPU)
        work(&call);
    else if (exists)
        gpu.queue[gpu.pushed++ % QUEUE] = call;
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

static CUresult query(CUevent event) {
    pthread_mutex_lock(&gpu.lock);
    bool is_done = *(size_t *)event <= gpu.done;
    pthread_mutex_unlock(&gpu.lock);
    return is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult synchronize(CUevent event) {
    usleep(20);
    pthread_mutex_lock(&gpu.lock);
    CHECK(!gpu.is_forbidden);
    carry_out_until(*(size_t *)event);
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
    *free = (gpu.capacity - gpu.used) * RESIDENCY_BLOCK;
    pthread_mutex_unlock(&gpu.lock);
    *total = gpu.capacity * RESIDENCY_BLOCK;
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

void contexts_lock(void) {}
void contexts_unlock(void) {}
struct context *contexts_first(void) {
    return &context;
}
void session_knock(void *nothing) {
    (void)nothing;
    pthread_mutex_lock(&gpu.lock);
    gpu.knocks++;
    pthread_mutex_unlock(&gpu.lock);
}
void log_line(enum log_level level, const char *format, ...) {
    (void)level;
    (void)format;
}

static uint64_t key_of(int i) {
    return BASE + (uint64_t)i * SPAN;
}

/* On the host, with bytes in it; or on the GPU. */
static void allocate(int i, uint64_t blocks, bool on_gpu) {
    struct ledger_entry entry = {.key = key_of(i),
                                 .bytes = blocks * RESIDENCY_BLOCK,
                                 .account = &device.account,
                                 .kind = LEDGER_CONVERTED,
                                 .away = on_gpu ? 0 : blocks * RESIDENCY_BLOCK};
    pthread_mutex_lock(&gpu.lock);
    gpu.exists[i] = true;
    for (uint64_t b = 0; on_gpu && b < blocks; b++, gpu.used++)
        gpu.served[i][b] = ++gpu.last_served;
    pthread_mutex_unlock(&gpu.lock);
    CHECK(account_reserve(&device.account, entry.bytes, false) == 0);
    atomic_fetch_add(&device.account.away, entry.away);
    CHECK(ledger_add(&allocations.memory, &entry) == 0);
}

/* As allocations.c does it. */
static void release(int i) {
    struct ledger_entry *taken = ledger_take(&allocations.memory, key_of(i));
    pthread_mutex_lock(&gpu.lock);
    gpu.exists[i] = false;
    for (int b = 0; b < BLOCKS; b++) {
        gpu.used -= gpu.served[i][b] > 0;
        gpu.served[i][b] = 0;
    }
    pthread_mutex_unlock(&gpu.lock);
    ledger_drop(taken);
    if (mover_is_waiting(&device.mover))
        mover_look_again(&device.mover);
}

static void wait_until_idle(void) {
    while (mover_is_busy(&device.mover))
        usleep(100);
}

/* The records of memory that is away are right. */
static void compare(void) {
    uint64_t away = 0;
    for (int i = 0; i < ALLOCATIONS; i++) {
        struct ledger_entry entry;
        if (ledger_find(&allocations.memory, key_of(i), &entry) < 0)
            continue;
        away += entry.away;
        CHECK(entry.moves == 0);
        uint64_t blocks = entry.bytes / RESIDENCY_BLOCK, head = entry.head / RESIDENCY_BLOCK;
        uint64_t there = blocks - entry.away / RESIDENCY_BLOCK;
        for (uint64_t b = 0; b < blocks; b++)
            CHECK((gpu.served[i][b] > 0) == ((b + blocks - head) % blocks < there));
    }
    CHECK(away == atomic_load(&device.account.away));
}

static void prepare(void) {
    real.cuMemPrefetchAsync = prefetch;
    real.cuMemGetInfo_v2 = get_info;
    real.cuEventCreate = create_event;
    real.cuEventDestroy_v2 = destroy_event;
    real.cuEventRecord = record;
    real.cuEventQuery = query;
    real.cuEventSynchronize = synchronize;
    real.cuStreamCreate = create_stream;
    real.cuStreamDestroy_v2 = destroy_stream;
    real.cuCtxPushCurrent_v2 = push;
    real.cuCtxPopCurrent_v2 = pop;
    real.cuThreadExchangeStreamCaptureMode = exchange;
    atomic_store(&device.account.limit, UINT64_MAX);
    gate_init(&device.gate, session_knock, NULL);
    mover_init(&device.mover, &device);
}

#endif
