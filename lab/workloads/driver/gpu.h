/* The GPU calls of every workload: a context, memory, copies to it. Failure ends the program. */
#ifndef NVSHARE_WORKLOAD_GPU_H
#define NVSHARE_WORKLOAD_GPU_H

#include <stddef.h>

#include "driver.h"

/* Makes the GPU's primary context the current one. */
void gpu_open(const struct driver_functions *driver, int device);

CUfunction gpu_load(const struct driver_functions *driver, const char *ptx, const char *kernel);

/* The driver functions that allocate memory. */
enum gpu_memory {
    GPU_PLAIN,   /* cuMemAlloc */
    GPU_MANAGED, /* cuMemAllocManaged */
    GPU_HANDLES, /* cuMemCreate, and mapped */
    GPU_POOL,    /* cuMemAllocAsync */
};

/* Reads the value of an option; ends the program if the name is unknown. */
enum gpu_memory gpu_memory_named(const char *name);

CUdeviceptr gpu_allocate(const struct driver_functions *driver, size_t bytes,
                         enum gpu_memory memory);

/* Copies from memory that was never written, so that it takes no room on the host. */
void gpu_copy_in(const struct driver_functions *driver, CUdeviceptr to, size_t bytes);

#endif
