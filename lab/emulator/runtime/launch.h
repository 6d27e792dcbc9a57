/* From what a program launches to what the driver launches. */
#ifndef NVSHARE_RUNTIME_LAUNCH_H
#define NVSHARE_RUNTIME_LAUNCH_H

#include "registry.h"

/* The kernel of a host stub. An address that nobody has registered is a handle already, as documented. */
CUresult function_at(const struct driver *driver, const void *func, CUkernel *out);

CUlaunchConfig launch_config(const cudaLaunchConfig_t *config);

#endif
