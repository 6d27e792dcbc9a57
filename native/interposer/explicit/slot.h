/* A place on the host for what has left the GPU: page-locked, so that copies go at the speed of the bus. To lock pages
 * is slow, much slower than the copy, and so a chunk keeps its slot until it is freed. */
#ifndef NVSHARE_EXPLICIT_SLOT_H
#define NVSHARE_EXPLICIT_SLOT_H

#include <stdbool.h>
#include <stdint.h>

struct slot {
    void *at; /* NULL: none */
    uint64_t bytes;
    uint64_t context; /* the number of the one that has locked it; 0: its pages are not locked */
};

static inline bool slot_is_taken(const struct slot *slot) {
    return slot->at != 0;
}

/* Gets a slot, or sees to it that one that is there is locked still: locks go with the context that made them. The
 * calling thread has a context. Returns 0 or -ENOMEM. A slot that could not be locked works, slowly. */
int slot_take(struct slot *slot, uint64_t bytes, uint64_t context);
void slot_give_back(struct slot *slot);

#endif
