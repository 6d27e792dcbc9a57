/* Faults that cannot be served. */
#ifndef NVSHARE_EMULATOR_CANCEL_H
#define NVSHARE_EMULATOR_CANCEL_H

#include "state.h"

#define XID_PAGE_FAULT 31

/* Cancels the batch of faults that the GPU is serving: every context with a fault in it is dead
 * from now on, and the GPU reports it. `queue` has the fault that could not be served. */
void cancel_faults(struct node *node, uint32_t gpu, struct queue *queue);

/* A context accessed an address without memory: it is dead from now on, and the GPU reports it. */
void cancel_context(struct node *node, uint32_t slot, uint32_t gpu, uint32_t context);

#endif
