/* Contexts on a full GPU.
 *
 * A GPU may be full of other programs' explicit memory. Unlike managed memory, the driver cannot
 * push it out for a context. Its owners can, and the daemon makes them. Without a daemon it leaves
 * when its owner ends. */
#ifndef NVSHARE_NEWCOMER_H
#define NVSHARE_NEWCOMER_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

struct device;

/* An attempt to make a context; zeros at first. */
struct newcomer {
    struct device *device;
    uint64_t until; /* when it gives up */
    bool has_room;  /* the daemon says so */
};

/* The driver had no room. Waits until there may be some; returns false if there will be none. */
bool newcomer_waits(struct newcomer *newcomer, CUdevice ordinal);

/* The attempt has succeeded or was given up. Tells the daemon, if needed. */
void newcomer_is_done(const struct newcomer *newcomer, CUdevice ordinal, bool has_context);

#endif
