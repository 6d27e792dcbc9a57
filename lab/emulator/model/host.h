/* Host pages of managed memory: who is charged for them, and who has too many. */
#ifndef NVSHARE_EMULATOR_HOST_H
#define NVSHARE_EMULATOR_HOST_H

#include "state.h"

/* Gives a block its pages, if it has none. The owner of the block is charged, whoever triggers it;
 * if that is more than it may have, the owner is doomed, and this succeeds. Returns -ENOSPC when the
 * machine itself has no more. */
int host_take(struct node *node, uint32_t slot, uint32_t block);

/* The range is freed. */
void host_give(struct node *node, uint32_t slot, uint32_t block);

#endif
