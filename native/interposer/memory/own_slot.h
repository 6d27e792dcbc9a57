/* This process's quota slot: its place in the page of its group, see quota.h. Plain C: it knows a page and numbers.
 *
 * One without a page has no limit. The caller sees to it that only one thread at a time uses it.
 * Functions return 0 or a negative errno. */
#ifndef NVSHARE_OWN_SLOT_H
#define NVSHARE_OWN_SLOT_H

#include "quota.h"

struct own_slot {
    struct quota_page *page; /* NULL: none */
    uint32_t slot;
    uint64_t key;     /* by which the daemon knows it again */
    uint32_t tickets; /* so that no two turns at the lock look the same */
};

/* Whether a descriptor is of a page that nobody can make shorter: memory that is mapped from it stays there. Returns 0, or
 * -EINVAL; `file` tells it from every other page. */
int own_slot_check(int descriptor, uint64_t *file);

/* Maps a page. The descriptor stays the caller's. */
int own_slot_take(struct own_slot *own, int descriptor, uint32_t slot, uint64_t key);
void own_slot_leave(struct own_slot *own);

/* Says that `used` and `bytes` more are used, or returns -ENOMEM if the group would pass its limit. */
int own_slot_reserve(struct own_slot *own, uint64_t used, uint64_t bytes);

/* Says what is used. */
void own_slot_tell(const struct own_slot *own, uint64_t used);

/* Says what pools keep beyond that: the others count it as used. */
void own_slot_keep(const struct own_slot *own, uint64_t kept);

/* What the group may use, or UINT64_MAX; who says so (enum quota_source); and what it does use, if this process uses so
 * much. */
uint64_t own_slot_limit(const struct own_slot *own);
uint64_t own_slot_limit_source(const struct own_slot *own);
uint64_t own_slot_group_used(const struct own_slot *own, uint64_t used);

#endif
