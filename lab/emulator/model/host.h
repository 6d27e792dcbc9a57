/* Host pages of managed memory: the charge for them, and its limit. */
#ifndef NVSHARE_EMULATOR_HOST_H
#define NVSHARE_EMULATOR_HOST_H

#include "state.h"

/* Gives a block its pages, if it has none. The owner of the block is charged, even if another
 * process triggers it. If that exceeds its limit, the owner is doomed, and this succeeds. Returns
 * -ENOSPC if the machine itself has no more. */
int host_take(struct node *node, uint32_t slot, uint32_t block);

/* The range is freed. */
void host_give(struct node *node, uint32_t slot, uint32_t block);

#endif
