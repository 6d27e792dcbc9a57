/* Pools of stream-ordered memory: their blocks, in use or kept for the next allocation.
 *
 * Memory that a pool keeps counts as used on the GPU. The same stream can have a block again that
 * it has yet to free, since the stream's order keeps the two users apart. */
#ifndef NVSHARE_EMULATOR_POOL_H
#define NVSHARE_EMULATOR_POOL_H

#include "memory.h"

#define POOL_MAGIC       0x506f6f31u
#define POOL_BLOCK_MAGIC 0x50426b31u

/* Owner of an allocation from a pool. */
struct pool_block {
    uint32_t magic;
    struct CUmemPoolHandle_st *pool;
    struct allocation *allocation; /* of 0 bytes while idle, so that no lookup finds it */
    uint64_t reserved;             /* bytes it takes of the GPU */
    uint64_t used;                 /* and how many of them the program asked for; 0: idle */
    uint32_t queue;                /* that will free it, or NO_INDEX */
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

/* Callers of all of these hold the driver's lock. */
CUresult pool_create(uint32_t gpu, const CUmemPoolProps *properties,
                     struct CUmemPoolHandle_st **out);
void pool_destroy(struct CUmemPoolHandle_st *pool);
bool pool_exists(const struct CUmemPoolHandle_st *pool);

/* The pool a GPU has from the beginning, and the one it uses now; NULL if memory runs out. */
struct CUmemPoolHandle_st *pool_default(uint32_t gpu);
struct CUmemPoolHandle_st *pool_current(uint32_t gpu);

/* The memory is for `queue`; NO_INDEX if that is not known. */
CUresult pool_allocate(struct CUmemPoolHandle_st *pool, uint64_t bytes, uint32_t queue,
                       struct allocation **out);

/* The queue of any free still to come, or NO_INDEX: waiting for it may make room. */
uint32_t pool_awaited_queue(const struct CUmemPoolHandle_st *pool);

/* Gives kept memory back to the GPU until no more than `keep` bytes are reserved. */
void pool_trim(struct CUmemPoolHandle_st *pool, uint64_t keep);

/* After a synchronisation, trims every pool to its threshold. Takes the lock itself. */
void pools_trim(void);

/* The block an allocation belongs to, or NULL. */
struct pool_block *pool_block_of(const struct allocation *allocation);

/* Frees an allocation of the program: to its pool, if it has one. */
void memory_give_back(struct allocation *allocation);

#endif
