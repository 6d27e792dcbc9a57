/* One operation as a sequence of stretches: parts that need one engine for one length of work. */
#ifndef NVSHARE_EMULATOR_STRETCH_H
#define NVSHARE_EMULATOR_STRETCH_H

#include "state.h"

/* Where an operation is: its queue, its process and its GPU. */
struct place {
    struct node *node;
    struct slot *slot;
    struct queue *queue;
    uint32_t slot_index;
    uint32_t gpu;
};

/* Ends the current stretch, with its effects on residency, and begins the next one that takes any
 * time. Returns false when the operation has no more. */
bool stretch_next(const struct place *place, struct operation *operation);

/* Does a waiting operation still have to wait? */
bool stretch_is_waiting(const struct place *place, const struct operation *operation);

/* A reference of an operation by its number, and its range: NULL when that was freed meanwhile,
 * even if another range has its number now. */
const struct reference *reference_at(const struct place *place, const struct operation *operation,
                                     uint32_t number);
const struct range *range_of(const struct place *place, const struct reference *reference);

#endif
