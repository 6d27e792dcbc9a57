/* What the process has and has to give back, for whoever looks for leaks: `nvshare emulate smi --json`
 * tells it of a process that lives. With NVSHARE_EMULATOR_LEAKS a process that ends adds a line of JSON
 * to that file, which says what it had not given back by then, and how many calls were made to fail (inject.h). */
#ifndef NVSHARE_EMULATOR_RESOURCES_H
#define NVSHARE_EMULATOR_RESOURCES_H

#include "driver.h"

void resources_add(enum resource resource);
void resources_remove(enum resource resource);

#endif
