/* Memory pools: made, destroyed, trimmed and queried. A pool is always one of the driver's; the
 * memory that it gives and keeps may be ours (pools.h), and then the program is told the sum of
 * both. */
#include "explicit/pooled.h"
#include "process/devices.h"

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
    driver_need();
    CUresult result = real.cuMemPoolCreate(pool, poolProps);
    if (result == CUDA_SUCCESS)
        pools_made(*pool, poolProps);
    return result;
}

/* The driver may reuse its handle for another pool as soon as it is destroyed. */
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    driver_need();
    struct pool *known = pools_take(pool);
    CUresult result = real.cuMemPoolDestroy(pool);
    pools_taken(known, result == CUDA_SUCCESS);
    if (known && result == CUDA_SUCCESS)
        pooled_trim(known, 0);
    return result;
}

static struct pool *find(CUmemoryPool handle) {
    pools_lock();
    struct pool *pool = pools_find(handle);
    pools_unlock();
    return pool;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    driver_need();
    struct pool *known = find(pool);
    CUresult result = real.cuMemPoolTrimTo(pool, minBytesToKeep);
    if (known && result == CUDA_SUCCESS)
        pooled_trim(known, minBytesToKeep);
    return result;
}

/* Other processes will know the pool, but not the memory that it has given so far: that still
 * moves. */
CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
    driver_need();
    CUresult result = real.cuMemPoolExportToShareableHandle(handle_out, pool, handleType, flags);
    if (result == CUDA_SUCCESS)
        pools_stop_serving(pool);
    return result;
}

/* Our part of an attribute, or NULL if it has none. */
static uint64_t *figure_of(struct pool *pool, CUmemPool_attribute attribute) {
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return &pool->reserved;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return &pool->reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return &pool->used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return &pool->used_high;
    default: return NULL;
    }
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    driver_need();
    CUresult result = real.cuMemPoolGetAttribute(pool, attr, value);
    if (result != CUDA_SUCCESS)
        return result;
    pools_lock();
    struct pool *known = pools_find(pool);
    const uint64_t *figure = known ? figure_of(known, attr) : NULL;
    if (figure)
        *(cuuint64_t *)value += *figure;
    pools_unlock();
    return result;
}

/* High marks can only be reset to the present value. */
static void set(struct pool *pool, CUmemPool_attribute attribute, const void *value) {
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->threshold = *(const cuuint64_t *)value; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: pool->reserved_high = pool->reserved; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: pool->used_high = pool->used; break;
    default: break;
    }
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    driver_need();
    CUresult result = real.cuMemPoolSetAttribute(pool, attr, value);
    if (result != CUDA_SUCCESS)
        return result;
    pools_lock();
    struct pool *known = pools_find(pool);
    if (known)
        set(known, attr, value);
    pools_unlock();
    return result;
}
