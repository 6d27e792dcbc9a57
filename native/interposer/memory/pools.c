#include "pools.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Atomic bool pools_are_used;
_Atomic bool pools_have_excess;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *first;

void pools_lock(void) {
    pthread_mutex_lock(&lock);
}

void pools_unlock(void) {
    pthread_mutex_unlock(&lock);
}

struct pool *pools_first(void) {
    return first;
}

/* With the lock held, as everything below that is static. */
struct pool *pools_find(CUmemoryPool handle) {
    for (struct pool *pool = first; pool; pool = pool->next)
        if (pool->handle == handle && handle && !pool->is_hidden)
            return pool;
    return NULL;
}

static struct pool *find_unused(void) {
    for (struct pool *pool = first; pool; pool = pool->next)
        if (pool->is_destroyed && !pool->count && !pool->stock.bytes)
            return pool;
    return NULL;
}

static struct pool *get_record(void) {
    struct pool *pool = find_unused(), *next = pool ? pool->next : first;
    bool is_new = !pool;
    if (is_new && !(pool = malloc(sizeof *pool)))
        return NULL;
    *pool = (struct pool){.next = next};
    if (is_new)
        first = pool;
    return pool;
}

/* Without memory for a record, memory that the pool keeps counts as free; nothing else changes. */
static struct pool *enter(CUdevice device, CUmemoryPool handle) {
    struct pool *pool = get_record();
    if (!pool)
        return NULL;
    pool->handle = handle;
    pool->device = device;
    atomic_store_explicit(&pools_are_used, true, memory_order_release);
    return pool;
}

struct pool *pools_nameless(CUdevice device) {
    for (struct pool *pool = first; pool; pool = pool->next)
        if (!pool->handle && pool->device == device)
            return pool;
    return enter(device, NULL);
}

/* Asks the memory itself: a device's current pool may have changed meanwhile. */
void pools_note(CUdevice device, CUdeviceptr pointer) {
    CUmemoryPool handle = NULL;
    if (real.cuPointerGetAttribute(&handle, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer) !=
            CUDA_SUCCESS ||
        !handle)
        return;
    pools_lock();
    struct pool *pool = pools_find(handle);
    if (!pool)
        pool = enter(device, handle);
    if (pool)
        pool->is_drivers = true;
    pools_unlock();
}

/* Whether it is GPU memory and nothing special (RDMA, a decompression engine), also by fields of
 * later versions. */
static bool is_plain(const CUmemPoolProps *properties) {
    const unsigned char *end = (const unsigned char *)(properties + 1);
    for (const unsigned char *at = (const unsigned char *)(&properties->maxSize + 1); at < end;
         at++)
        if (*at)
            return false;
    return properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
           properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

void pools_made(CUmemoryPool handle, const CUmemPoolProps *properties) {
    if (!is_plain(properties))
        return;
    pools_lock();
    struct pool *pool = enter(properties->location.id, handle);
    if (pool) {
        pool->is_served = true;
        pool->most = properties->maxSize;
    }
    pools_unlock();
}

void pools_stop_serving(CUmemoryPool handle) {
    pools_lock();
    struct pool *pool = pools_find(handle);
    if (pool)
        pool->is_served = false;
    pools_unlock();
}

/* Each device has a pool from the beginning, which the program does not make. */
static struct pool *enter_default(CUdevice device, CUmemoryPool handle) {
    CUmemoryPool own = NULL;
    cuuint64_t threshold = 0;
    if (real.cuDeviceGetDefaultMemPool(&own, device) != CUDA_SUCCESS || own != handle)
        return NULL;
    struct pool *pool = enter(device, handle);
    if (!pool)
        return NULL;
    real.cuMemPoolGetAttribute(handle, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    pool->threshold = threshold;
    pool->is_served = true;
    return pool;
}

struct pool *pools_serving(CUdevice device, CUmemoryPool handle) {
    if (!handle)
        return NULL;
    pools_lock();
    struct pool *pool = pools_find(handle);
    if (!pool)
        pool = enter_default(device, handle);
    pools_unlock();
    return pool && pool->is_served && pool->device == device ? pool : NULL;
}

struct pool *pools_take(CUmemoryPool handle) {
    pools_lock();
    struct pool *pool = pools_find(handle);
    if (pool)
        pool->is_hidden = true;
    pools_unlock();
    return pool;
}

void pools_taken(struct pool *pool, bool is_destroyed) {
    if (!pool)
        return;
    pools_lock();
    pool->is_hidden = pool->is_destroyed = is_destroyed;
    pools_unlock();
}

static uint64_t kept_by_driver(CUmemoryPool pool) {
    cuuint64_t reserved = 0, used = 0;
    if (real.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) !=
            CUDA_SUCCESS ||
        real.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) != CUDA_SUCCESS)
        return 0;
    return reserved > used ? reserved - used : 0;
}

uint64_t pools_keep(CUdevice device) {
    uint64_t bytes = 0;
    pools_lock();
    for (const struct pool *pool = first; pool; pool = pool->next)
        if (pool->device == device && pool->is_drivers && !pool->is_hidden)
            bytes += kept_by_driver(pool->handle);
    pools_unlock();
    return bytes;
}

void pools_trim(CUdevice device) {
    pools_lock();
    for (const struct pool *pool = first; pool; pool = pool->next)
        if (pool->device == device && pool->is_drivers && !pool->is_hidden)
            real.cuMemPoolTrimTo(pool->handle, 0);
    pools_unlock();
}

void pools_forget(void) {
    pthread_mutex_init(&lock, NULL);
    first = NULL;
    atomic_store(&pools_are_used, false);
    atomic_store(&pools_have_excess, false);
    moments_forget();
}
