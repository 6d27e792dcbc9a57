#include "pooled.h"

#include <stdlib.h>
#include <unistd.h>

#include "process/clock.h"
#include "process/contexts.h"
#include "process/devices.h"
#include "session/session.h"

enum { PAUSE_US = 1000 };

enum { GRAIN = 512 }; /* the unit in which pools count used bytes, as drivers do */

static uint64_t rounded(uint64_t bytes) {
    return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

static uint64_t in_use(const struct pool *pool) {
    return pool->reserved - pool->stock.bytes;
}

/* With the lock held. The thread that gives the excess back finds out when there is none. */
static void note_excess(const struct pool *pool) {
    if (pool->stock.bytes && (pool->reserved > pool->threshold || pool->is_destroyed))
        atomic_store_explicit(&pools_have_excess, true, memory_order_relaxed);
}

static void raise(uint64_t *high, uint64_t value) {
    if (*high < value)
        *high = value;
}

static void count(struct pool *pool, uint64_t bytes, uint64_t reserved) {
    pools_lock();
    pool->count++;
    pool->used += rounded(bytes);
    pool->reserved += reserved;
    raise(&pool->used_high, pool->used);
    raise(&pool->reserved_high, pool->reserved);
    pools_unlock();
}

/* With the lock held. Memory that is from no pool was never counted. */
static void uncount(struct pool *pool, const struct ledger_entry *entry) {
    if (entry->pool) {
        pool->count--;
        pool->used -= rounded(entry->bytes);
    }
}

/* A capture by any thread allows stream-ordered allocations in another stream. It would not allow
 * the calls by which they are made here. */
static CUstreamCaptureMode begin_calls(void) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    real.cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static void end_calls(CUstreamCaptureMode before) {
    real.cuThreadExchangeStreamCaptureMode(&before);
}

void pooled_count(struct device *device) {
    uint64_t bytes = 0;
    pools_lock();
    for (const struct pool *pool = pools_first(); pool; pool = pool->next)
        bytes += pool->device == device->ordinal ? pool->stock.bytes : 0;
    account_set_stocked(&device->account, bytes);
    pools_unlock();
}

/* Without the lock, since the driver's calls are slow. */
static uint64_t free_blocks(struct device *device, struct block *list) {
    uint64_t bytes = 0;
    if (!list)
        return 0;
    CUstreamCaptureMode before = begin_calls();
    for (struct block *next; list; list = next) {
        next = list->next;
        bytes += list->bytes;
        explicit_give_up(device, list);
        free(list);
    }
    end_calls(before);
    pooled_count(device);
    session_memory_changed(device);
    return bytes;
}

/* With the lock held. Takes out the blocks beyond `keep` reserved bytes. */
static struct block *reduce(struct pool *pool, uint64_t keep) {
    uint64_t used = in_use(pool);
    struct block *list = stock_reduce(&pool->stock, keep > used ? keep - used : 0);
    pool->reserved = used + pool->stock.bytes;
    return list;
}

void pooled_trim(struct pool *pool, uint64_t keep) {
    pools_lock();
    struct block *list = reduce(pool, keep);
    pools_unlock();
    free_blocks(device_known(pool->device), list);
}

uint64_t pooled_make_room(struct device *device, bool *is_pending) {
    uint64_t bytes = 0;
    pools_lock();
    for (struct pool *pool = pools_first(); pool; pool = pool->next) {
        if (pool->device != device->ordinal || !pool->stock.bytes)
            continue;
        struct block *list = reduce(pool, 0);
        *is_pending |= pool->stock.bytes > 0;
        pools_unlock();
        bytes += free_blocks(device, list);
        pools_lock();
    }
    pools_unlock();
    return bytes;
}

bool pooled_make_room_patiently(struct device *device) {
    uint64_t until = clock_now() + POOLED_PATIENCE;
    for (;;) {
        bool is_pending = false;
        if (pooled_make_room(device, &is_pending) > 0)
            return true;
        if (!is_pending || clock_now() >= until)
            return false;
        usleep(PAUSE_US);
    }
}

void pooled_give_back_excess(void) {
    atomic_store_explicit(&pools_have_excess, false, memory_order_relaxed);
    pools_lock();
    for (struct pool *pool = pools_first(); pool; pool = pool->next) {
        uint64_t keep = pool->is_destroyed ? 0 : pool->threshold;
        if (!pool->stock.bytes || pool->reserved <= keep)
            continue;
        struct block *list = reduce(pool, keep);
        note_excess(pool);
        pools_unlock();
        free_blocks(device_known(pool->device), list);
        pools_lock();
    }
    pools_unlock();
}

/* Frees blocks that stand in the way of the pool's growth. Returns whether more can be freed
 * later. */
static bool make_place(struct pool *pool, uint64_t bytes) {
    pooled_trim(pool, pool->most > bytes ? pool->most - bytes : 0);
    pools_lock();
    bool is_pending = pool->stock.bytes > 0 && in_use(pool) + bytes <= pool->most;
    pools_unlock();
    return is_pending;
}

/* Whether a pool may reserve so many bytes more: the program has set its maximum. Memory that a
 * stream has yet to free is waited for, but not for ever: the stream may wait for this thread
 * itself. */
static bool may_grow(struct pool *pool, uint64_t bytes) {
    uint64_t until = clock_now() + POOLED_PATIENCE;
    if (!pool->most)
        return true;
    while (make_place(pool, bytes) && pool->reserved + bytes > pool->most && clock_now() < until)
        usleep(PAUSE_US);
    return pool->reserved + bytes <= pool->most;
}

struct block *pooled_take(struct device *device, struct pool *pool, uint64_t bytes,
                          CUstream stream) {
    uint64_t number = moment_stream(stream);
    pools_lock();
    struct block *block = stock_take(&pool->stock, explicit_takes(bytes), number);
    pools_unlock();
    if (block)
        pooled_count(device);
    return block;
}

void pooled_put_back(struct device *device, struct pool *pool, struct block *block) {
    if (!block)
        return;
    pools_lock();
    stock_add(&pool->stock, block);
    pools_unlock();
    pooled_count(device);
}

static CUresult reuse(struct device *device, struct ledger_entry *entry, struct block *block) {
    struct pool *pool = entry->pool;
    CUresult result = explicit_use_again(device, entry, block);
    if (result == CUDA_SUCCESS) {
        count(pool, entry->bytes, 0);
    } else { /* the block is gone */
        pools_lock();
        pool->reserved -= block->bytes;
        pools_unlock();
    }
    free(block);
    return result;
}

static CUresult allocate(struct device *device, struct ledger_entry *entry, struct block *block) {
    uint64_t bytes = explicit_takes(entry->bytes);
    if (block)
        return reuse(device, entry, block);
    if (!may_grow(entry->pool, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = explicit_provide(device, entry);
    if (result == CUDA_SUCCESS)
        count(entry->pool, entry->bytes, bytes);
    return result;
}

CUresult pooled_allocate(struct device *device, struct ledger_entry *entry, struct block *block) {
    CUstreamCaptureMode before = begin_calls();
    CUresult result = allocate(device, entry, block);
    end_calls(before);
    return result;
}

/* Without memory for the record it is never freed: better than while work may use it. */
static void keep(struct device *device, const struct ledger_entry *entry, struct moment *freed) {
    struct block spare, *block = malloc(sizeof *block);
    explicit_keep(device, entry, block ? block : &spare);
    pools_lock();
    struct pool *pool = entry->pool ? entry->pool : pools_nameless(device->ordinal);
    if (pool)
        uncount(pool, entry);
    if (pool && block) {
        block->freed = freed;
        stock_add(&pool->stock, block);
        pool->reserved += entry->pool ? 0 : block->bytes;
        note_excess(pool);
    } else {
        moment_drop(freed);
        free(block);
    }
    pools_unlock();
}

CUresult pooled_free(struct device *device, const struct ledger_entry *entry, CUstream stream) {
    struct moment *freed;
    CUresult result = moment_now(stream, &freed);
    if (result == CUDA_SUCCESS)
        keep(device, entry, freed);
    return result;
}

/* Such memory does not come back to the pool. */
CUresult pooled_free_now(struct device *device, const struct ledger_entry *entry) {
    struct pool *pool = entry->pool;
    struct ledger_entry of_context = *entry;
    uint64_t bytes = explicit_taken(device, entry);
    of_context.owner = context_here()->id;
    CUresult result = explicit_free(device, &of_context);
    if (result != CUDA_SUCCESS)
        return result;
    pools_lock();
    uncount(pool, entry);
    pool->reserved -= bytes;
    pools_unlock();
    return result;
}
