/* Chunks: 2 MiB of a GPU's memory that a block of managed memory has, and the order in which they are
 * taken away. Who needs one, and what happens to the block, is in residency.c. */
#ifndef NVSHARE_EMULATOR_CHUNKS_H
#define NVSHARE_EMULATOR_CHUNKS_H

#include "state.h"

/* A chunk is USED while its block is on the GPU, and UNUSED after the block has left. */
enum chunk_use { CHUNK_UNUSED, CHUNK_USED };

/* One more chunk for a block, or one less. Whoever gives one lists it next. */
void chunk_give(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu);
void chunk_drop(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu);

/* Puts a block's chunk at the end of the list that it belongs to now. */
void chunk_list(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu);

/* The chunk that is taken next. Returns false when there is none. */
bool chunk_oldest(struct node *node, uint32_t gpu, enum chunk_use use, struct listed *out);

/* After a crash: both lists of every GPU from the blocks. */
void chunks_rebuild(struct node *node);

/* Is every chunk in its list, in order, once, and nothing else? */
bool chunks_differ(const struct node *node);

#endif
