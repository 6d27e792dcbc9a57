/* The memory of driver-phases: a row of allocations, and the kernel that reads some of them. */
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

/* Allocates or frees blocks, so that `bytes` are allocated; `bytes` has to be one of the cuts. */
void blocks_resize(const struct driver_functions *driver, struct blocks *blocks, uint64_t bytes);

/* Copies bytes to the blocks that were allocated last. */
void blocks_copy_in(const struct driver_functions *driver, const struct blocks *blocks,
                    uint64_t bytes);

/* The blocks of a window; both ends have to be cuts. */
struct window {
    size_t first, count;
};
struct window blocks_between(const struct blocks *blocks, uint64_t begin, uint64_t end);

/* Loads a kernel that reads `count` blocks. On the emulated GPU it takes cost_us, unless that is
 * 0. */
CUfunction blocks_kernel(const struct driver_functions *driver, size_t count, double cost_us);

void blocks_launch(const struct driver_functions *driver, const struct blocks *blocks,
                   CUfunction kernel, struct window window, CUstream stream);

#endif
