/* How much the program has allocated on each GPU. Plain C. Two limits apply to it: the program's
 * own, and that of its group (own_slot.h). */
#ifndef NVSHARE_ACCOUNT_H
#define NVSHARE_ACCOUNT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "own_slot.h"

/* Recent allocations that were not used yet. Calls are looked at one by one until all of these are
 * seen in use, or until there were enough calls. */
struct watch {
    unsigned count; /* of them */
    unsigned looks; /* calls that are still looked at */
    uint64_t era;   /* goes up when the allocations not seen are given up; never 0 */
};

/* Why memory cannot leave the GPU. */
enum pinned_reason {
    PINNED_AS_ASKED, /* native: memory as the program asks for it */
    PINNED_HANDLE,   /* of cuMemCreate, the driver's own */
    PINNED_RDMA,     /* the same, requested as memory for RDMA */
    PINNED_EXPORTED, /* other processes have it */
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
    _Atomic uint64_t untouched;    /* of these, bytes that were never used: they are nowhere */
    _Atomic uint64_t kept;         /* bytes that have pages on the host, see ring.h */
    uint64_t stocked;              /* of those used, bytes that pools keep, see explicit/pooled.h */
    _Atomic uint64_t coming;       /* bytes that can be moved, counted but not allocated yet */
    _Atomic uint64_t all_used_ns;  /* when all memory may have been in use, as far as is known */
    _Atomic uint64_t agreed;       /* bytes in use that the daemon knows of and has agreed to */
    _Atomic uint64_t limit;        /* most that may be used; UINT64_MAX: no limit */
    _Atomic uint64_t told;         /* the group's limit as the daemon has told it; 0: none */
    pthread_mutex_t lock;          /* of what is counted, and of the slot */
    struct own_slot own_slot;      /* in its group; at first there is none */
    struct watch watch;            /* under the lock of the ledger of memory */
};

/* Counts bytes. Returns 0, or -ENOMEM if they would pass the limit. Limits are enforced here and
 * nowhere else. */
int account_reserve(struct account *account, uint64_t bytes, bool pinned);
void account_release(struct account *account, uint64_t bytes, bool pinned);

/* Sets how many bytes pools keep; they count as used. They were counted before, so no limit
 * applies. */
void account_set_stocked(struct account *account, uint64_t bytes);

/* Sets how many bytes the driver has for graphs. They are there already, so no limit applies. */
void account_set_graphs(struct account *account, uint64_t bytes);

/* Bytes that are counted already are pinned from now on. */
void account_fix(struct account *account, uint64_t bytes);

/* Tells the group how much the driver's pools keep. */
void account_keep(struct account *account, uint64_t kept);

/* Takes a slot in the page of a group, in the place of the one before. */
void account_join(struct account *account, const struct own_slot *own);

/* The smaller of both limits; and how many bytes could be reserved now. */
uint64_t account_limit(struct account *account);
uint64_t account_left(struct account *account);

/* The source of the group's limit: enum quota_source. */
uint64_t account_limit_source(struct account *account);

/* Bytes on the GPU that can leave it; bytes elsewhere that a fill would bring in; and bytes that
 * are nowhere, because they were never used or are being allocated. */
uint64_t account_there(const struct account *account);
uint64_t account_absent(const struct account *account);
uint64_t account_nowhere(const struct account *account);

#endif
