/* One operation as a sequence of stretches: parts that need one engine for one length of work. */
#ifndef NVSHARE_EMULATOR_STRETCH_H
#define NVSHARE_EMULATOR_STRETCH_H

#include "state.h"

/* Where an operation is: its queue, its process and its GPU. */
struct place {
    struct node *node;
    struct slot *slot;
    struct queue *queue;
    uint32_t gpu;
};

/* Ends the current stretch, with its effects on residency, and begins the next one that takes any
 * time. Returns false when the operation has no more. */
bool stretch_next(const struct place *place, struct operation *operation);

#endif
