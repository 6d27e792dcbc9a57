/* Fills as the program describes them, turned into tasks: memset, and the memset nodes of graphs. */
#ifndef NVSHARE_EMULATOR_FILL_H
#define NVSHARE_EMULATOR_FILL_H

#include "../process/task.h"

/* Fails with INVALID_VALUE when it is misaligned or runs out of its allocation. `on_device` tells
 * whether only the GPU sees that memory; it may be NULL. */
CUresult fill_check(const struct fill_task *fill, bool *on_device);

#endif
