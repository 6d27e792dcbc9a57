/* Contexts on a full GPU.
 *
 * A GPU may be full of memory that others move explicitly. In contrast to managed memory the driver cannot push that
 * out for a context, but its owners can, and the daemon has them do it. Without a daemon it goes when its owner does. */
#ifndef NVSHARE_NEWCOMER_H
#define NVSHARE_NEWCOMER_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

struct device;

/* One that tries to make a context; zeros at first. */
struct newcomer {
    struct device *device;
    uint64_t until; /* when it gives up */
    bool has_room;  /* as the daemon says */
};

/* The driver had no room. Waits until that may be different; returns false if there is none to be had. */
bool newcomer_waits(struct newcomer *newcomer, CUdevice ordinal);

/* It has its context, or has given up: the daemon hears of it, if it has to. */
void newcomer_is_done(const struct newcomer *newcomer, CUdevice ordinal, bool has_context);

#endif
