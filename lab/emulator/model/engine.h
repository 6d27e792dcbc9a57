/* The model of time: the progress of the GPUs up to now. */
#ifndef NVSHARE_EMULATOR_ENGINE_H
#define NVSHARE_EMULATOR_ENGINE_H

#include "state.h"

/* Advances the model to `now`, with the lock held. Each process that looks does this for all. */
void engine_advance(struct node *node, uint64_t now);

/* Hands an operation to a queue that has room for it; returns its ticket. With the lock held, and
 * the model up to date. */
uint64_t engine_submit(struct node *node, uint32_t slot, uint32_t queue,
                       const struct operation *operation, const struct reference *references);
bool engine_has_room(const struct node *node, const struct queue *queue, uint32_t references);

/* The least emulated time in which a ticket can be reached, if no other work delays it. */
uint64_t engine_soonest(const struct node *node, uint32_t slot, uint32_t queue, uint64_t ticket);

/* Is the operation at the head of a queue under way: has it had any time of its engine? */
bool engine_is_under_way(struct node *node, uint32_t slot, uint32_t queue);

/* A prefetch by its ticket: has its call returned, and with which result (0 or a negative errno)?
 * The call on a stream that had work returns at once: a thread of the driver waits for the stream.
 * That is inferred from what the vendor has published; its library is closed. */
bool engine_is_issued(const struct node *node, uint32_t slot, uint32_t queue, uint64_t ticket,
                      int *error);
uint64_t engine_issue_soonest(const struct node *node, uint32_t slot, uint32_t queue,
                              uint64_t ticket);

#endif
