/* The memory of driver-phases: allocations side by side, and the kernel that goes through some of them. */
#ifndef NVSHARE_WORKLOAD_BLOCKS_H
#define NVSHARE_WORKLOAD_BLOCKS_H

#include "gpu.h"
#include "phase.h"

/* Block i lies between cuts i and i + 1. */
struct blocks {
    struct cuts cuts;
    bool managed;
    size_t count; /* that are allocated */
    CUdeviceptr at[MAX_CUTS];
};

/* From now on so many bytes are allocated; `bytes` has to be one of the cuts. */
void blocks_resize(const struct driver_functions *driver, struct blocks *blocks, uint64_t bytes);

/* Copies bytes to what was allocated last. */
void blocks_copy_in(const struct driver_functions *driver, const struct blocks *blocks,
                    uint64_t bytes);

/* The blocks of a window; both ends have to be cuts. */
struct window {
    size_t first, count;
};
struct window blocks_between(const struct blocks *blocks, uint64_t begin, uint64_t end);

/* Loads a kernel that goes through `count` blocks. On the emulated GPU it takes cost_us, unless that
 * is 0. */
CUfunction blocks_kernel(const struct driver_functions *driver, size_t count, double cost_us);

void blocks_launch(const struct driver_functions *driver, const struct blocks *blocks,
                   CUfunction kernel, struct window window, CUstream stream);

#endif
