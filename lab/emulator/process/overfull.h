/* Says once that the programs on a node have allocated more memory than this machine has. */
#ifndef NVSHARE_EMULATOR_OVERFULL_H
#define NVSHARE_EMULATOR_OVERFULL_H

#include <stdint.h>

/* To be called after an allocation of so many bytes. */
void overfull_look(uint64_t bytes);

#endif
