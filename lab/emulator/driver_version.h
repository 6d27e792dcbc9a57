/* Which driver the emulated libraries say they are. CUDA_VERSION of cuda.h is the other half of the
 * answer, so this names the branch that came with that release. */
#ifndef NVSHARE_EMULATOR_DRIVER_VERSION_H
#define NVSHARE_EMULATOR_DRIVER_VERSION_H

#define EMULATED_DRIVER_VERSION "615.71.05"
#define EMULATED_DRIVER_BRANCH  "r615_00"

#endif
