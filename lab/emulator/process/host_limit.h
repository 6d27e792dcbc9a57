/* How much of the host the managed memory of this process may take, and what happens beyond that. */
#ifndef NVSHARE_EMULATOR_HOST_LIMIT_H
#define NVSHARE_EMULATOR_HOST_LIMIT_H

#include "driver.h"

/* Reads the limit once the process has a slot: NVSHARE_EMULATOR_HOST_LIMIT, else that of its own
 * memory cgroup, of either version. */
void host_limit_read(struct driver *new_driver);

/* Is there any? Then somebody has to look now and then. */
bool host_limit_exists(void);

/* Notes what the cgroup really uses, and ends the process if it has more than it may. Whoever pushes
 * its memory out cannot do that: process numbers differ between containers. */
void host_limit_enforce(void);

#endif
