/* The lists of queues that have work, per GPU. Derived state: rebuilt after a crash. */
#ifndef NVSHARE_EMULATOR_ACTIVITY_H
#define NVSHARE_EMULATOR_ACTIVITY_H

#include "state.h"

void activate(struct node *node, uint32_t slot, uint32_t queue);

/* Drops the queue at `position` of the GPU's list; the last one takes its place. */
void deactivate(struct node *node, struct gpu *gpu, uint32_t position);

/* Pending waits of one GPU's queue for another GPU's queue: these make clocks advance together. */
uint32_t count_waits_across(const struct node *node);

static inline struct operation *head_of(struct queue *queue) {
    return &queue->operations[queue->completed % QUEUE_SLOTS];
}

#endif
