/* The page that the processes of a group share, one for each GPU: what the group may use, and what
 * each of them uses. It is a file in memory that the daemon makes, seals against any change of its
 * size, and hands out as a descriptor (QUOTA). Processes keep the descriptor, and hand it to the
 * next daemon (HELLO).
 *
 * The daemon writes `magic`, `limit`, `check`, `limit_source`, `held`, `used_slots` and the key of
 * each slot, and restores them if a process has changed them. A process writes its own slot, and
 * `lock`. Sums are never stored: they are added up under the lock each time. So a process which
 * dies at any moment leaves nothing behind but its own slot, which the daemon clears.
 *
 * src/nvshare/daemon/groups/quota_page.py has the same layout; a test compares the two. */
#ifndef NVSHARE_QUOTA_H
#define NVSHARE_QUOTA_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define QUOTA_MAGIC    UINT64_C(0x3141544f5551564e) /* the bytes "NVQUOTA1" */
#define QUOTA_NO_LIMIT UINT64_MAX
#define QUOTA_CHECK    UINT64_C(0x9e3779b97f4a7c15) /* `check` is the limit, exclusive-or this */
#define QUOTA_SLOTS    1024

/* The source of a limit. Older daemons do not tell it. */
enum quota_source {
    QUOTA_SOURCE_UNKNOWN,
    QUOTA_SOURCE_ENVIRONMENT, /* the environment of a process of the group */
    QUOTA_SOURCE_SET,         /* a person, with nvshare limit */
    QUOTA_SOURCE_POD,         /* the annotation of a pod */
    QUOTA_SOURCE_CEILING,     /* the administrator of the cluster, for the pod's namespace */
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
    _Atomic uint64_t check;        /* a limit that does not match it is half written */
    _Atomic uint32_t used_slots;   /* slots behind these are free */
    _Atomic uint32_t lock;         /* which process adds up; 0: none */
    _Atomic uint64_t limit_source; /* for people: enum quota_source */
    _Atomic uint64_t held; /* bytes that drivers hold for the group: modules, further contexts */
    uint64_t reserved[2];
    _Atomic uint64_t paid_until; /* of the group's share of compute, see bucket.h */
    uint64_t reserved_for_compute[15];
    struct quota_slot slots[QUOTA_SLOTS];
};

static_assert(sizeof(struct quota_slot) == 32, "src/nvshare/daemon/groups/quota_page.py");
static_assert(sizeof(struct quota_page) == 192 + 32 * QUOTA_SLOTS,
              "src/nvshare/daemon/groups/quota_page.py");

#endif
