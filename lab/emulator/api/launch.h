/* A kernel launch as a program describes it, for launches and for the kernel nodes of graphs. */
#ifndef NVSHARE_EMULATOR_LAUNCH_H
#define NVSHARE_EMULATOR_LAUNCH_H

#include "../process/function.h"
#include "../process/task.h"

enum { PARAMETER_BYTES = 32764 }; /* the most a kernel can take */

struct launch {
    struct function *function;
    struct CUstream_st *stream; /* NULL in a graph */
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    bool cooperative;
    void **parameters;
    void **extra;
};

/* Can a GPU run a kernel in this shape? */
CUresult launch_check(const struct launch *launch, uint32_t gpu);

/* The launch as a task. Its parameters are gathered in `bytes`, which holds PARAMETER_BYTES. */
CUresult launch_describe(const struct launch *launch, unsigned char *bytes, struct task *out);

#endif
