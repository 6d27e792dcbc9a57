/* Fills as the program describes them, turned into tasks: memset, and memset nodes of graphs. */
#ifndef NVSHARE_EMULATOR_FILL_H
#define NVSHARE_EMULATOR_FILL_H

#include "../process/task.h"

/* Fails with INVALID_VALUE if the fill is misaligned or extends beyond its allocation. `on_device`,
 * which may be NULL, tells whether only the GPU sees that memory. */
CUresult fill_check(const struct fill_task *fill, bool *on_device);

#endif
