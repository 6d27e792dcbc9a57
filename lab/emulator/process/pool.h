/* Pools of stream-ordered memory: what they hold, in use or kept for the next one who asks.
 *
 * What a pool keeps is really taken on the GPU. A block that a stream has yet to free can be had again
 * at once in that same stream, since the stream's order keeps the two users apart. */
#ifndef NVSHARE_EMULATOR_POOL_H
#define NVSHARE_EMULATOR_POOL_H

#include "memory.h"

#define POOL_MAGIC       0x506f6f31u
#define POOL_BLOCK_MAGIC 0x50426b31u

/* Owner of an allocation from a pool. */
struct pool_block {
    uint32_t magic;
    struct CUmemPoolHandle_st *pool;
    struct allocation *allocation; /* of 0 bytes while idle, so that nobody finds it by address */
    uint64_t reserved;             /* bytes it takes of the GPU */
    uint64_t used;                 /* and how many of them the program asked for; 0: idle */
    uint32_t queue;                /* which is going to free it, or NO_INDEX */
    struct pool_block *next, *previous;
};

struct CUmemPoolHandle_st {
    uint32_t magic;
    uint32_t gpu;
    CUmemPoolProps properties;
    uint64_t release_threshold;
    uint64_t used, used_high, reserved, reserved_high;
    int reuse[3]; /* CU_MEMPOOL_ATTR_REUSE_*, kept for the program; they change nothing here */
    CUmemAccess_flags access[MAX_GPUS];
    bool is_default;
    bool is_current; /* chosen by cuDeviceSetMemPool */
    bool destroyed;  /* goes with its last block */
    struct pool_block *blocks;
    struct CUmemPoolHandle_st *next;
};

/* All of these want the driver's lock. */
CUresult pool_create(uint32_t gpu, const CUmemPoolProps *properties,
                     struct CUmemPoolHandle_st **out);
void pool_destroy(struct CUmemPoolHandle_st *pool);
bool pool_exists(const struct CUmemPoolHandle_st *pool);

/* The pool a GPU has from the beginning, and the one it uses now; NULL when memory is out. */
struct CUmemPoolHandle_st *pool_default(uint32_t gpu);
struct CUmemPoolHandle_st *pool_current(uint32_t gpu);

/* `queue` is the one the memory is for, NO_INDEX when that is not known. */
CUresult pool_allocate(struct CUmemPoolHandle_st *pool, uint64_t bytes, uint32_t queue,
                       struct allocation **out);

/* The queue of some free that is still to come, or NO_INDEX: waiting for it may make room. */
uint32_t pool_awaited_queue(const struct CUmemPoolHandle_st *pool);

/* Gives kept memory back to the GPU until no more than `keep` bytes are reserved. */
void pool_trim(struct CUmemPoolHandle_st *pool, uint64_t keep);

/* Somebody has synchronised: no pool keeps more than its threshold. Takes the lock itself. */
void pools_trim(void);

/* The block an allocation belongs to, or NULL. */
struct pool_block *pool_block_of(const struct allocation *allocation);

/* Frees an allocation that the program made by itself: to its pool, if it has one. */
void memory_give_back(struct allocation *allocation);

#endif
