/* The places of the blocks of managed memory, and the choice of a victim when a GPU is full. */
#ifndef NVSHARE_EMULATOR_RESIDENCY_H
#define NVSHARE_EMULATOR_RESIDENCY_H

#include "state.h"

/* Free device memory in bytes, as cuMemGetInfo and NVML show it. */
uint64_t gpu_free_bytes(const struct gpu *gpu);

/* Chunks that a GPU could give to blocks without an eviction. */
uint64_t gpu_idle_chunks(const struct gpu *gpu);

/* Could a block come to the GPU, perhaps after an eviction? */
bool gpu_could_make_room(const struct gpu *gpu);

/* How the copies of an eviction are paid for: they are queued (a prefetch, plain memory), or their
 * time is part of that of a fault. */
enum copies { COPIES_QUEUED, COPIES_IN_FAULT };

/* Bring a block to a GPU, or send it to the host; if it is already there, it is served. Both count
 * the bytes on the bus. Return 0; -ENOMEM if the GPU has nothing that could be evicted, -ENOSPC if
 * the host has no page left. */
int block_bring(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu, enum copies copies);
int block_send(struct node *node, uint32_t slot, uint32_t block, enum copies copies);

/* Puts a block somewhere at once and at no cost; on the host it is mapped. For tests. */
void block_put(struct node *node, uint32_t slot, uint32_t block, uint8_t location);

/* Takes plain memory or a context for a process, evicting managed blocks if it must. Returns 0 or
 * -ENOMEM. */
struct room {
    uint64_t evicted; /* bytes that had to leave, and */
    uint64_t until;   /* the caller waits until the GPU's out_done is here */
};
int gpu_take_plain(struct node *node, uint32_t slot, uint32_t gpu, uint64_t bytes,
                   struct room *room);
void gpu_give_plain(struct node *node, uint32_t slot, uint32_t gpu, uint64_t bytes);
int gpu_take_context(struct node *node, uint32_t slot, uint32_t gpu, struct room *room);
void gpu_give_context(struct node *node, uint32_t slot, uint32_t gpu);

/* Memory of contexts beyond their fixed size: their loaded code. */
int gpu_take_code(struct node *node, uint32_t slot, uint32_t gpu, uint64_t bytes,
                  struct room *room);
void gpu_give_code(struct node *node, uint32_t slot, uint32_t gpu, uint64_t bytes);

/* Create and free a range of managed blocks. Create returns its number or -ENOSPC. */
int range_create(struct node *node, uint32_t slot, uint32_t first_block, uint32_t blocks);
void range_destroy(struct node *node, uint32_t slot, uint32_t range);

#endif
