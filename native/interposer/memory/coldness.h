/* How long ago memory was last used, in steps that mean something. */
#ifndef NVSHARE_COLDNESS_H
#define NVSHARE_COLDNESS_H

#include <stdint.h>

/* Allocations used within a second of each other are used together: it is chance which of them was
 * last, and which of them was seen. Beyond that, each doubling of the time is one step. */
static inline unsigned coldness(uint64_t age_ns) {
    unsigned steps = 0;
    for (uint64_t seconds = age_ns / 1000000000; seconds; seconds /= 2)
        steps++;
    return steps;
}

#endif
