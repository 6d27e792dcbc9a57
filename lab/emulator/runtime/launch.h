/* Conversion of a program's kernel to the driver's. */
#ifndef NVSHARE_RUNTIME_LAUNCH_H
#define NVSHARE_RUNTIME_LAUNCH_H

#include "registry.h"

/* The kernel of a host stub. As documented, an address that is not registered is a handle. */
CUresult function_at(const struct driver *driver, const void *func, CUkernel *out);

CUlaunchConfig launch_config(const cudaLaunchConfig_t *config);

#endif
