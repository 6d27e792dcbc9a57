/* The limit on host memory that the managed memory of this process takes, and its enforcement. */
#ifndef NVSHARE_EMULATOR_HOST_LIMIT_H
#define NVSHARE_EMULATOR_HOST_LIMIT_H

#include "driver.h"

/* Reads the limit once the process has a slot: NVSHARE_EMULATOR_HOST_LIMIT, else that of its own
 * memory cgroup, of either version. */
void host_limit_read(struct driver *new_driver);

/* Is there a limit? Then the worker has to check it regularly. */
bool host_limit_exists(void);

/* Notes what the cgroup really uses, and ends the process if it exceeds its limit. The process that
 * pushes the memory out cannot do that: process numbers differ between containers. */
void host_limit_enforce(void);

#endif
