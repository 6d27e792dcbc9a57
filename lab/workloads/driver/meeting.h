/* Where ranks meet: words that all of them reach, and the kernels of nvshare's own module that spin there. */
#ifndef NVSHARE_WORKLOAD_MEETING_H
#define NVSHARE_WORKLOAD_MEETING_H

#include <stdatomic.h>
#include <stdint.h>

#include "driver.h"

/* Of one process. */
struct meeting {
    uint64_t ranks;
    CUdeviceptr words; /* one of each rank, on the host */
    const _Atomic uint64_t
        *last; /* the last round, if somebody has written one to the file; 0: nobody has */
};

/* Where in the file, in words, that is. */
enum { MEETING_LAST = 64 };

/* The kernels in one context. */
struct named_kernels {
    CUfunction meet, pattern, count_mismatches;
};

/* With a context that is current. The words are in a file that all processes name and that is empty or not there before;
 * NULL: all ranks are in this process. */
struct meeting meeting_open(const struct driver_functions *driver, uint64_t ranks,
                            const char *file);

struct named_kernels meeting_kernels(const struct driver_functions *driver);

/* A kernel that says that the rank has come to a round, counted from 1, and spins until all others have. */
void meeting_launch(const struct driver_functions *driver, const struct meeting *meeting,
                    CUfunction meet, uint64_t rank, uint64_t round, CUstream stream);

#endif
