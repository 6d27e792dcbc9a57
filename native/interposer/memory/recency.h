/* When allocations were last seen in use. Plain C: it is given numbers that may be addresses, and knows which
 * lie in an allocation of the ledger.
 *
 * The index by which it knows is made now and then, not kept up to date: those who allocate pay nothing for
 * it. An allocation that is too new to be in it is one that was just made, and counts as used then; who has to
 * know better asks for it by its key. */
#ifndef NVSHARE_RECENCY_H
#define NVSHARE_RECENCY_H

#include "ledger.h"

struct recency_range {
    uint64_t begin, end, serial; /* of an allocation; its key is where it begins */
};

struct recency {
    pthread_mutex_t lock;
    struct recency_range *ranges; /* by address */
    size_t count;
    uint64_t last_serial; /* of the ledger, when the index was made */
    uint64_t due;         /* when it may be made again */
};

#define RECENCY_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Notes the use of whatever these numbers point into. If another thread is at it, nothing is noted. */
void recency_note(struct recency *recency, struct ledger *ledger, const uint64_t *numbers,
                  size_t count, uint64_t now);

/* Notes the use of the allocation of this key at once, however new it is. Returns whether there is one. */
bool recency_saw(struct ledger *ledger, uint64_t key, uint64_t now);

/* In a child after fork. */
void recency_forget(struct recency *recency);

#endif
