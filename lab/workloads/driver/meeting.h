/* A barrier of ranks: words that all of them reach, and kernels of nvshare's own module that spin
 * on them. */
#ifndef NVSHARE_WORKLOAD_MEETING_H
#define NVSHARE_WORKLOAD_MEETING_H

#include <stdatomic.h>
#include <stdint.h>

#include "driver.h"

/* Of one process. */
struct meeting {
    uint64_t ranks;
    CUdeviceptr words;            /* one for each rank, on the host */
    const _Atomic uint64_t *last; /* the last round, if the file has one; 0: not yet */
};

/* The place of `last` in the file, in words. */
enum { MEETING_LAST = 64 };

/* The kernels in one context. */
struct named_kernels {
    CUfunction meet, pattern, count_mismatches;
};

/* Needs a current context. The words are in a file that all processes name, and that is empty or
 * missing before; NULL: all ranks are in this process. */
struct meeting meeting_open(const struct driver_functions *driver, uint64_t ranks,
                            const char *file);

struct named_kernels meeting_kernels(const struct driver_functions *driver);

/* Launches a kernel that announces the rank's arrival at a round, counted from 1, and spins until
 * all others have arrived. */
void meeting_launch(const struct driver_functions *driver, const struct meeting *meeting,
                    CUfunction meet, uint64_t rank, uint64_t round, CUstream stream);

#endif
