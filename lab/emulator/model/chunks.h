/* Chunks: 2 MiB of a GPU's memory that a block of managed memory has, and the order in which they
 * are reclaimed. The rules for needing one, and the fate of the block, are in residency.c. */
#ifndef NVSHARE_EMULATOR_CHUNKS_H
#define NVSHARE_EMULATOR_CHUNKS_H

#include "state.h"

/* A chunk is USED while its block is on the GPU, and UNUSED after the block has left. */
enum chunk_use { CHUNK_UNUSED, CHUNK_USED };

/* Give a block a chunk, or take it. After chunk_give() the caller must call chunk_list(). */
void chunk_give(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu);
void chunk_drop(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu);

/* Puts a block's chunk at the end of the list that it belongs to now. */
void chunk_list(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu);

/* The chunk to be taken next. Returns false if there is none. */
bool chunk_oldest(struct node *node, uint32_t gpu, enum chunk_use use, struct listed *out);

/* After a crash: both lists of every GPU from the blocks. */
void chunks_rebuild(struct node *node);

/* Is every chunk in its list, in order, once, and nothing else? */
bool chunks_differ(const struct node *node);

#endif
