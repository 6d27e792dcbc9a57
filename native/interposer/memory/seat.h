/* This process at the page of its group, see quota.h. Plain C: it knows a page and numbers.
 *
 * A seat without a page has no limit. The caller sees to it that only one thread at a time uses a seat.
 * Functions return 0 or a negative errno. */
#ifndef NVSHARE_SEAT_H
#define NVSHARE_SEAT_H

#include "quota.h"

struct seat {
    struct quota_page *page; /* NULL: none */
    uint32_t slot;
    uint64_t number;  /* by which the daemon knows it again */
    uint32_t tickets; /* so that no two turns at the lock look the same */
};

/* Whether a descriptor is of a page that nobody can make shorter: memory that is mapped from it stays there. Returns 0, or
 * -EINVAL; `file` tells it from every other page. */
int seat_check(int descriptor, uint64_t *file);

/* Maps a page. The descriptor stays the caller's. */
int seat_take(struct seat *seat, int descriptor, uint32_t slot, uint64_t number);
void seat_leave(struct seat *seat);

/* Says that `used` and `bytes` more are used, or returns -ENOMEM if the group would pass its limit. */
int seat_reserve(struct seat *seat, uint64_t used, uint64_t bytes);

/* Says what is used. */
void seat_tell(const struct seat *seat, uint64_t used);

/* Says what pools keep beyond that: the others count it as used. */
void seat_keep(const struct seat *seat, uint64_t kept);

/* What the group may use, or UINT64_MAX; who says so (enum quota_source); and what it does use, if this process uses so
 * much. */
uint64_t seat_limit(const struct seat *seat);
uint64_t seat_limit_source(const struct seat *seat);
uint64_t seat_group_used(const struct seat *seat, uint64_t used);

#endif
