/* Attributes of memory pools. */
#include <string.h>

#include "../process/pool.h"

/* The place of a pool's 64-bit attribute, or NULL. */
static uint64_t *number_of(struct CUmemPoolHandle_st *pool, CUmemPool_attribute attribute) {
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return &pool->release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return &pool->reserved;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return &pool->reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return &pool->used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return &pool->used_high;
    default: return NULL;
    }
}

/* The same for attributes that say whether memory may be reused. */
static int *reuse_of(struct CUmemPoolHandle_st *pool, CUmemPool_attribute attribute) {
    bool is_one = attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
                  attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    return is_one ? &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]
                  : NULL;
}

/* The properties that the pool was created with. */
static CUresult get_property(const CUmemPoolProps *properties, CUmemPool_attribute attribute,
                             void *out) {
    int value;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_ALLOCATION_TYPE: value = (int)properties->allocType; break;
    case CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES: value = (int)properties->handleTypes; break;
    case CU_MEMPOOL_ATTR_LOCATION_ID: value = properties->location.id; break;
    case CU_MEMPOOL_ATTR_LOCATION_TYPE: value = (int)properties->location.type; break;
    case CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED: value = 0; break;
    case CU_MEMPOOL_ATTR_MAX_POOL_SIZE:
        memcpy(out, &properties->maxSize, sizeof properties->maxSize);
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(out, &value, sizeof value);
    return CUDA_SUCCESS;
}

static CUresult get(struct CUmemPoolHandle_st *pool, CUmemPool_attribute attribute, void *out) {
    const uint64_t *number = number_of(pool, attribute);
    const int *reuse = reuse_of(pool, attribute);
    if (!number && !reuse)
        return get_property(&pool->properties, attribute, out);
    if (number)
        memcpy(out, number, sizeof *number);
    else
        memcpy(out, reuse, sizeof *reuse);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    REQUIRE_DRIVER();
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    CUresult result = pool_exists(pool) ? get(pool, attr, value) : CUDA_ERROR_INVALID_VALUE;
    driver_unlock();
    return result;
}

/* A high-water mark can only be reset to the present amount, which is written as 0. */
static CUresult set_number(struct CUmemPoolHandle_st *pool, CUmemPool_attribute attribute,
                           uint64_t wanted) {
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        pool->release_threshold = wanted;
        return CUDA_SUCCESS;
    }
    REQUIRE(wanted == 0, CUDA_ERROR_INVALID_VALUE);
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        pool->reserved_high = pool->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        pool->used_high = pool->used;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult set(struct CUmemPoolHandle_st *pool, CUmemPool_attribute attribute,
                    const void *value) {
    int *reuse = reuse_of(pool, attribute);
    if (reuse) {
        memcpy(reuse, value, sizeof *reuse);
        return CUDA_SUCCESS;
    }
    REQUIRE(number_of(pool, attribute), CUDA_ERROR_INVALID_VALUE);
    uint64_t wanted;
    memcpy(&wanted, value, sizeof wanted);
    return set_number(pool, attribute, wanted);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    REQUIRE_DRIVER();
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    CUresult result = pool_exists(pool) ? set(pool, attr, value) : CUDA_ERROR_INVALID_VALUE;
    driver_unlock();
    return result;
}
