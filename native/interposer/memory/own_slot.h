/* This process's quota slot: its entry in the page of its group, see quota.h. Plain C: it knows a
 * page and numbers.
 *
 * A slot without a page has no limit. The caller makes sure that no two threads use it at once.
 * Functions return 0 or a negative errno. */
#ifndef NVSHARE_OWN_SLOT_H
#define NVSHARE_OWN_SLOT_H

#include "quota.h"

struct own_slot {
    struct quota_page *page; /* NULL: none */
    uint32_t slot;
    uint64_t key;     /* by which the daemon recognises the slot */
    uint32_t tickets; /* makes each turn at the lock different */
};

/* Checks that a page cannot be made shorter, so that memory mapped from it stays there. Returns 0
 * or -EINVAL. */
int own_slot_check(int descriptor);

/* Maps a page. The descriptor stays the caller's. */
int own_slot_take(struct own_slot *own, int descriptor, uint32_t slot, uint64_t key);
void own_slot_leave(struct own_slot *own);

/* Enters `used` plus `bytes` as used, or returns -ENOMEM if the group would pass its limit. */
int own_slot_reserve(struct own_slot *own, uint64_t used, uint64_t bytes);

/* Enters what is used. */
void own_slot_tell(const struct own_slot *own, uint64_t used);

/* Enters what pools keep beyond that: the others count it as used. */
void own_slot_keep(const struct own_slot *own, uint64_t kept);

/* What the group may use, or UINT64_MAX; the limit's source (enum quota_source); and what the group
 * uses, if this process uses `used`. */
uint64_t own_slot_limit(const struct own_slot *own);
uint64_t own_slot_limit_source(const struct own_slot *own);
uint64_t own_slot_group_used(const struct own_slot *own, uint64_t used);

#endif
