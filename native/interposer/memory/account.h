/* How much the program has allocated on each GPU. Plain C. What it may allocate is limited twice: by a limit of its own,
 * and by that of its group (own_slot.h). */
#ifndef NVSHARE_ACCOUNT_H
#define NVSHARE_ACCOUNT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "own_slot.h"

/* Allocations that were made lately and that nobody has used yet: calls are looked at one by one until all
 * of them are seen, or until there were enough calls. */
struct watch {
    unsigned count; /* of them */
    unsigned looks; /* calls that are still looked at */
    uint64_t era;   /* goes up when those that were not seen are given up; never 0 */
};

/* Why memory cannot leave the GPU. */
enum pinned_reason {
    PINNED_AS_ASKED, /* memory stays as the program asks for it */
    PINNED_HANDLE,   /* of cuMemCreate, the driver's own */
    PINNED_RDMA,     /* the same, and asked for as memory for RDMA */
    PINNED_EXPORTED, /* others have it */
    PINNED_GPUS,     /* the program uses several GPUs */
    PINNED_POOL,     /* of a pool, the driver's own */
    PINNED_ARRAY,
    PINNED_GRAPH, /* of memory nodes, the driver's own */
    PINNED_REASONS,
};

/* The sums of one GPU. */
struct account {
    _Atomic uint64_t used;   /* bytes, pinned ones included */
    _Atomic uint64_t pinned; /* bytes that cannot leave the GPU */
    _Atomic uint64_t
        pinned_by[PINNED_REASONS]; /* the same by reason, without what is not entered yet */
    _Atomic uint64_t away;         /* bytes that are not on the GPU, see residency.h */
    _Atomic uint64_t untouched;    /* of these, bytes that nobody has used yet: they are nowhere */
    _Atomic uint64_t kept;         /* bytes that have pages on the host, see ring.h */
    uint64_t stocked;              /* of those used, what pools keep, see explicit/pooled.h */
    _Atomic uint64_t coming;       /* bytes that can be moved, counted but not allocated yet */
    _Atomic uint64_t all_used_ns;  /* when all memory may have been in use, as far as one knows */
    _Atomic uint64_t agreed;       /* bytes in use that the daemon knows of, and agrees to */
    _Atomic uint64_t limit;        /* most that may be used; UINT64_MAX: no limit */
    _Atomic uint64_t told;         /* the group's limit, by the daemon's word; 0: none */
    pthread_mutex_t lock;          /* of what is counted, and of the slot */
    struct own_slot own_slot;      /* in its group; at first there is none */
    struct watch watch;            /* under the lock of the ledger of memory */
};

/* Counts bytes. Returns 0, or -ENOMEM if they would pass the limit. This is where limits are enforced,
 * and nowhere else. */
int account_reserve(struct account *account, uint64_t bytes, bool pinned);
void account_release(struct account *account, uint64_t bytes, bool pinned);

/* Pools keep so many bytes by now, which count as used. They were counted before, so that no limit is looked at. */
void account_set_stocked(struct account *account, uint64_t bytes);

/* The driver holds so many bytes for graphs by now. They are there already, so that no limit is looked at. */
void account_set_graphs(struct account *account, uint64_t bytes);

/* Bytes that are counted already are pinned from now on. */
void account_fix(struct account *account, uint64_t bytes);

/* Tells the group what the driver's pools keep by now. */
void account_keep(struct account *account, uint64_t kept);

/* Takes a slot in the page of a group, in the place of the one before. */
void account_join(struct account *account, const struct own_slot *own);

/* The smaller one of both limits; and how many bytes could be reserved at this moment. */
uint64_t account_limit(struct account *account);
uint64_t account_left(struct account *account);

/* Who has set the limit of the group: enum quota_source. */
uint64_t account_limit_source(struct account *account);

/* Bytes on the GPU that can leave it; bytes elsewhere that a fill would bring in; and bytes that are nowhere,
 * because nobody has used them yet or because they are only just being allocated. */
uint64_t account_there(const struct account *account);
uint64_t account_absent(const struct account *account);
uint64_t account_nowhere(const struct account *account);

#endif
