/* The resources that the process has yet to give back, for finding leaks. `nvshare emulate smi
 * --json` shows those of a live process. With NVSHARE_EMULATOR_LEAKS a process that ends adds a
 * line of JSON to that file: the resources that it did not give back, and the number of calls that
 * were made to fail (inject.h). */
#ifndef NVSHARE_EMULATOR_RESOURCES_H
#define NVSHARE_EMULATOR_RESOURCES_H

#include "driver.h"

void resources_add(enum resource resource);
void resources_remove(enum resource resource);

#endif
