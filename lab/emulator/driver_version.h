/* The driver version that the emulated libraries report. They also report CUDA_VERSION of cuda.h,
 * so this names the driver branch of that release. */
#ifndef NVSHARE_EMULATOR_DRIVER_VERSION_H
#define NVSHARE_EMULATOR_DRIVER_VERSION_H

#define EMULATED_DRIVER_VERSION "615.71.05"
#define EMULATED_DRIVER_BRANCH  "r615_00"

#endif
