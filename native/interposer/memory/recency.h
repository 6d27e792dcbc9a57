/* When allocations were last seen in use. Plain C: it is given numbers that may be addresses, and
 * finds those that lie in an allocation of the ledger.
 *
 * It finds them by an index that is rebuilt now and then, not kept up to date, so that allocating
 * costs nothing. An allocation too new for the index was just made, and counts as used then.
 * Callers that need to be exact look it up by its key. */
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
    uint64_t due;         /* when it may be rebuilt */
};

#define RECENCY_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Notes the use of allocations that these numbers point into. If another thread is at it, does
 * nothing. */
void recency_note(struct recency *recency, struct ledger *ledger, const uint64_t *numbers,
                  size_t count, uint64_t now);

/* Notes the use of a key's allocation at once, however new it is. Returns whether there is one. */
bool recency_saw(struct ledger *ledger, uint64_t key, uint64_t now);

/* In a child after fork. */
void recency_forget(struct recency *recency);

#endif
