/* The power that a GPU draws: linear between idle and the limit. */
#ifndef NVSHARE_EMULATOR_NVML_POWER_H
#define NVSHARE_EMULATOR_NVML_POWER_H

#include "look.h"

unsigned int power_mw(const struct gpu *gpu, unsigned int percent);

/* Since the node began, in mJ. */
unsigned long long energy_mj(const struct look *look);

#endif
