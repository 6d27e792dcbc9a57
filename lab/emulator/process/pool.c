/* Pools of stream-ordered memory. */
#include "pool.h"

#include <stdlib.h>

#define GRAIN 512 /* the alignment of device memory */

struct pool_block *pool_block_of(const struct allocation *allocation) {
    return memory_is_owned_by(allocation, POOL_BLOCK_MAGIC) ? allocation->owner : NULL;
}

static void keep_highest(uint64_t *high, uint64_t value) {
    if (value > *high)
        *high = value;
}

CUresult pool_create(uint32_t gpu, const CUmemPoolProps *properties,
                     struct CUmemPoolHandle_st **out) {
    struct CUmemPoolHandle_st *pool = calloc(1, sizeof *pool);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pool->magic = POOL_MAGIC;
    pool->gpu = gpu;
    pool->properties = *properties;
    pool->access[gpu] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    pool->next = driver->pools;
    driver->pools = pool;
    *out = pool;
    return CUDA_SUCCESS;
}

bool pool_exists(const struct CUmemPoolHandle_st *pool) {
    for (const struct CUmemPoolHandle_st *p = driver->pools; p; p = p->next)
        if (p == pool)
            return !p->destroyed;
    return false;
}

static void remove_if_empty(struct CUmemPoolHandle_st *pool) {
    if (!pool->destroyed || pool->blocks)
        return;
    struct CUmemPoolHandle_st **at = &driver->pools;
    while (*at != pool)
        at = &(*at)->next;
    *at = pool->next;
    free(pool);
}

void pool_destroy(struct CUmemPoolHandle_st *pool) {
    pool->destroyed = true;
    pool->is_current = false;
    pool_trim(pool, 0);
    remove_if_empty(pool);
}

static struct CUmemPoolHandle_st *find_pool(uint32_t gpu, bool the_default) {
    for (struct CUmemPoolHandle_st *p = driver->pools; p; p = p->next)
        if (p->gpu == gpu && (the_default ? p->is_default : p->is_current))
            return p;
    return NULL;
}

struct CUmemPoolHandle_st *pool_default(uint32_t gpu) {
    struct CUmemPoolHandle_st *pool = find_pool(gpu, true);
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED};
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device_of_gpu(gpu);
    if (!pool && pool_create(gpu, &properties, &pool) == CUDA_SUCCESS)
        pool->is_default = true;
    return pool;
}

struct CUmemPoolHandle_st *pool_current(uint32_t gpu) {
    struct CUmemPoolHandle_st *chosen = find_pool(gpu, false);
    return chosen ? chosen : pool_default(gpu);
}

/* A queue can have a block that it is still to free, unless the block would get smaller: work
 * before the free still uses all of it. */
static bool fits(const struct pool_block *block, uint64_t bytes, uint32_t queue) {
    bool idle = block->used == 0;
    bool free_in_queue = block->allocation->freeing && block->queue == queue && queue != NO_INDEX &&
                         block->used <= bytes;
    /* A block that is much too large stays for a larger allocation. */
    return (idle || free_in_queue) && block->reserved >= bytes && block->reserved / 2 <= bytes;
}

static struct pool_block *find_block(const struct CUmemPoolHandle_st *pool, uint64_t bytes,
                                     uint32_t queue) {
    struct pool_block *best = NULL;
    for (struct pool_block *b = pool->blocks; b; b = b->next)
        if (fits(b, bytes, queue) && (!best || b->reserved < best->reserved))
            best = b;
    return best;
}

static void release_block(struct pool_block *block) {
    struct CUmemPoolHandle_st *pool = block->pool;
    if (block->next)
        block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else
        pool->blocks = block->next;
    pool->reserved -= block->reserved;
    block->allocation->bytes = block->reserved;
    memory_release(block->allocation);
    free(block);
}

static CUresult allocate_from_gpu(struct CUmemPoolHandle_st *pool, uint64_t bytes,
                                  struct allocation **out) {
    uint64_t most = pool->properties.maxSize;
    if (most && pool->reserved + bytes > most) {
        pool_trim(pool, most > bytes ? most - bytes : 0);
        if (pool->reserved + bytes > most)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = memory_allocate_plain(NULL, pool->gpu, bytes, out);
    if (result != CUDA_SUCCESS) { /* memory kept for later takes the room that is needed now */
        pool_trim(pool, 0);
        result = memory_allocate_plain(NULL, pool->gpu, bytes, out);
    }
    return result;
}

static CUresult new_block(struct CUmemPoolHandle_st *pool, uint64_t bytes,
                          struct pool_block **out) {
    struct pool_block *block = calloc(1, sizeof *block);
    if (!block)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = allocate_from_gpu(pool, bytes, &block->allocation);
    if (result != CUDA_SUCCESS) {
        free(block);
        return result;
    }
    block->magic = POOL_BLOCK_MAGIC;
    block->pool = pool;
    block->reserved = bytes;
    block->allocation->owner = block;
    block->next = pool->blocks;
    if (block->next)
        block->next->previous = block;
    pool->blocks = block;
    pool->reserved += bytes;
    keep_highest(&pool->reserved_high, pool->reserved);
    *out = block;
    return CUDA_SUCCESS;
}

CUresult pool_allocate(struct CUmemPoolHandle_st *pool, uint64_t bytes, uint32_t queue,
                       struct allocation **out) {
    if (bytes > UINT64_MAX - GRAIN)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t rounded = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    struct pool_block *block = find_block(pool, rounded, queue);
    if (!block) {
        CUresult result = new_block(pool, rounded, &block);
        if (result != CUDA_SUCCESS)
            return result;
    }
    pool->used += rounded - block->used;
    keep_highest(&pool->used_high, pool->used);
    block->used = rounded;
    block->queue = NO_INDEX;
    block->allocation->bytes = bytes;
    block->allocation->freeing = false;
    block->allocation->sync_memops = false;
    block->allocation->id = driver_next_id(); /* so that a free under way does nothing */
    *out = block->allocation;
    return CUDA_SUCCESS;
}

uint32_t pool_awaited_queue(const struct CUmemPoolHandle_st *pool) {
    for (const struct pool_block *b = pool->blocks; b; b = b->next)
        if (b->allocation->freeing && b->queue != NO_INDEX)
            return b->queue;
    return NO_INDEX;
}

void pool_trim(struct CUmemPoolHandle_st *pool, uint64_t keep) {
    struct pool_block *next;
    for (struct pool_block *b = pool->blocks; b && pool->reserved > keep; b = next) {
        next = b->next;
        if (!b->used)
            release_block(b);
    }
}

/* As documented, memory is given back at the next synchronisation. */
void pools_trim(void) {
    driver_lock();
    for (struct CUmemPoolHandle_st *p = driver->pools; p; p = p->next)
        if (p->reserved > p->release_threshold)
            pool_trim(p, p->release_threshold);
    driver_unlock();
}

static void free_block(struct pool_block *block) {
    struct CUmemPoolHandle_st *pool = block->pool;
    pool->used -= block->used;
    block->used = 0;
    block->allocation->freeing = false;
    block->allocation->bytes = 0;
    if (pool->destroyed || block->allocation->is_unbacked)
        release_block(block);
    remove_if_empty(pool);
}

void memory_give_back(struct allocation *allocation) {
    struct pool_block *block = pool_block_of(allocation);
    if (block)
        free_block(block);
    else
        memory_release(allocation);
}
