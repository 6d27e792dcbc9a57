/* The registrations of nvcc-compiled code: its fat binaries, and the kernels and variables in them
 * by their addresses on the host. A binary is loaded on the first use of one of its symbols. */
#ifndef NVSHARE_RUNTIME_REGISTRY_H
#define NVSHARE_RUNTIME_REGISTRY_H

#include "runtime.h"

struct binary;

/* NULL if memory runs out. The program keeps the image. */
struct binary *registry_add_binary(const void *image);
void registry_remove_binary(struct binary *binary);

/* The program keeps the name. An address that is registered again gets its new meaning. */
void registry_add_symbol(struct binary *binary, const void *host, const char *name);

/* The kernel behind an address. CUDA_ERROR_NOT_FOUND if it is not registered; if loading the binary
 * fails, its error. */
CUresult registry_kernel(const struct driver *driver, const void *host, CUkernel *out);

/* The library that a variable is in, and its name there; results as above. */
CUresult registry_variable(const struct driver *driver, const void *host, CUlibrary *library,
                           const char **name);

#endif
