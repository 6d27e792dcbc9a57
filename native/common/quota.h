/* The page that the processes of a group share, one for each GPU: what the group may use, and what each
 * of them does use. It is a file in memory that the daemon makes, seals so that nobody can shorten or lengthen it, and hands
 * out as a descriptor (QUOTA). Processes keep the descriptor, and hand it to the next daemon (HELLO).
 *
 * The daemon writes `magic`, `limit`, `check`, `limit_source`, `held`, `used_slots` and the key of each slot, and writes them again where
 * somebody else has. A process writes its own slot, and `lock`. Sums are never
 * stored: they are added up under the lock each time, so that a process which dies at any moment leaves
 * nothing behind but its own slot, which the daemon clears.
 *
 * src/nvshare/daemon/quota.py has the same layout; a test compares the two. */
#ifndef NVSHARE_QUOTA_H
#define NVSHARE_QUOTA_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define QUOTA_MAGIC    UINT64_C(0x3141544f5551564e) /* the bytes "NVQUOTA1" */
#define QUOTA_NO_LIMIT UINT64_MAX
#define QUOTA_CHECK    UINT64_C(0x9e3779b97f4a7c15) /* `check` is the limit, exclusive-or this */
#define QUOTA_SLOTS    1024

/* Who has set a limit. Older daemons say nothing. */
enum quota_source {
    QUOTA_SOURCE_UNKNOWN,
    QUOTA_SOURCE_ENVIRONMENT, /* that of a process of the group */
    QUOTA_SOURCE_SET,         /* a person, with nvshare limit */
    QUOTA_SOURCE_POD,         /* the annotation of a pod */
    QUOTA_SOURCE_CEILING,     /* whoever runs the cluster, for the pod's namespace */
};

struct quota_slot {
    _Atomic uint64_t key;   /* drawn by the daemon for one process; 0: the slot is free */
    _Atomic uint64_t used;  /* bytes */
    _Atomic uint64_t asked; /* bytes that it is about to use, if they fit */
    _Atomic uint64_t kept; /* bytes that its memory pools keep beyond what is allocated from them */
};

struct quota_page {
    uint64_t magic;
    _Atomic uint64_t limit;        /* bytes */
    _Atomic uint64_t check;        /* a limit without it is half written */
    _Atomic uint32_t used_slots;   /* slots behind these are free */
    _Atomic uint32_t lock;         /* who adds up; 0: nobody */
    _Atomic uint64_t limit_source; /* who has set the limit, for people: enum quota_source */
    _Atomic uint64_t held; /* bytes that drivers hold for the group: modules, further contexts */
    uint64_t reserved[2];
    _Atomic uint64_t paid_until; /* of the group's share of compute, see bucket.h */
    uint64_t reserved_for_compute[15];
    struct quota_slot slots[QUOTA_SLOTS];
};

static_assert(sizeof(struct quota_slot) == 32, "src/nvshare/daemon/quota.py");
static_assert(sizeof(struct quota_page) == 192 + 32 * QUOTA_SLOTS, "src/nvshare/daemon/quota.py");

#endif
