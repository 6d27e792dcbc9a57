/* Which blocks of managed memory are where, and who leaves when a GPU is full. */
#ifndef NVSHARE_EMULATOR_RESIDENCY_H
#define NVSHARE_EMULATOR_RESIDENCY_H

#include "state.h"

/* Device memory that nobody holds, in bytes. */
uint64_t gpu_free_bytes(const struct gpu *gpu);

/* Puts one block of a range somewhere and keeps the counts. */
void block_move(struct node *node, struct slot *slot, struct range *range, uint32_t block,
                uint8_t location);

/* Sends up to `count` of the least recently used blocks on a GPU to the host; returns how many. */
uint32_t gpu_evict(struct node *node, uint32_t gpu, uint32_t count);

/* Can a block come to the GPU, if need be after an eviction? */
bool gpu_has_room(const struct gpu *gpu);
bool gpu_could_make_room(const struct gpu *gpu);

/* Books plain memory or a context for a process, evicting managed blocks when it must. Returns 0 or
 * -ENOMEM; `evicted` gets the bytes that had to leave. */
int gpu_take_plain(struct node *node, uint32_t slot, uint32_t gpu, uint64_t bytes,
                   uint64_t *evicted);
void gpu_give_plain(struct node *node, uint32_t slot, uint32_t gpu, uint64_t bytes);
int gpu_take_context(struct node *node, uint32_t slot, uint32_t gpu);
void gpu_give_context(struct node *node, uint32_t slot, uint32_t gpu);

/* A range of managed blocks comes into being or goes. Create returns its number or -ENOSPC. */
int range_create(struct node *node, uint32_t slot, uint32_t first_block, uint32_t blocks);
void range_destroy(struct node *node, uint32_t slot, uint32_t range);

#endif
