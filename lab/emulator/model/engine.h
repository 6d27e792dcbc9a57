/* The model of time: what the GPUs have done by now. */
#ifndef NVSHARE_EMULATOR_ENGINE_H
#define NVSHARE_EMULATOR_ENGINE_H

#include "state.h"

/* Works the model out up to `now`. With the lock held. Whoever looks does this, on behalf of all. */
void engine_advance(struct node *node, uint64_t now);

/* Hands an operation to a queue that has room for it; returns its ticket. With the lock held, and
 * the model up to date. */
uint64_t engine_submit(struct node *node, uint32_t slot, uint32_t queue,
                       const struct operation *operation, const struct reference *references);
bool engine_has_room(const struct node *node, const struct queue *queue, uint32_t references);

/* The least emulated time in which a ticket can be reached, if nobody else gets in the way. */
uint64_t engine_soonest(const struct node *node, uint32_t slot, uint32_t queue, uint64_t ticket);

/* Is the operation at the head of a queue under way: has it had any time of its engine? */
bool engine_is_under_way(struct node *node, uint32_t slot, uint32_t queue);

/* A prefetch by its ticket: has its call returned, and what did it say (0 or a negative errno)? The
 * call of a stream that had work returns at once: a thread of the driver's waits for the stream. That
 * is inferred from what the vendor has published; its library is closed. */
bool engine_is_issued(const struct node *node, uint32_t slot, uint32_t queue, uint64_t ticket,
                      int *error);
uint64_t engine_issue_soonest(const struct node *node, uint32_t slot, uint32_t queue,
                              uint64_t ticket);

#endif
