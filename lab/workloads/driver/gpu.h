/* What every workload does with a GPU: a context, memory, bytes to it. Failure ends the program. */
#ifndef NVSHARE_WORKLOAD_GPU_H
#define NVSHARE_WORKLOAD_GPU_H

#include <stddef.h>

#include "driver.h"

/* Makes the GPU's primary context the current one. */
void gpu_open(const struct driver_functions *driver, int device);

CUfunction gpu_load(const struct driver_functions *driver, const char *ptx, const char *kernel);

/* By which of the driver's functions memory is asked for. */
enum gpu_memory {
    GPU_PLAIN,   /* cuMemAlloc */
    GPU_MANAGED, /* cuMemAllocManaged */
    GPU_HANDLES, /* cuMemCreate, and mapped */
    GPU_POOL,    /* cuMemAllocAsync */
};

/* The name of one, as an option has it; ends the program if there is none of that name. */
enum gpu_memory gpu_memory_named(const char *name);

CUdeviceptr gpu_allocate(const struct driver_functions *driver, size_t bytes,
                         enum gpu_memory memory);

/* From memory that nobody has written, so that it takes no room on the host. */
void gpu_copy_in(const struct driver_functions *driver, CUdeviceptr to, size_t bytes);

#endif
