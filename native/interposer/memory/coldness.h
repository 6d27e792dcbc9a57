/* How long ago memory was last used, in steps that mean something. */
#ifndef NVSHARE_COLDNESS_H
#define NVSHARE_COLDNESS_H

#include <stdint.h>

/* Allocations that were used within a second of each other are used together: which of them was last is
 * chance, as is which of them was seen. Beyond that, twice the time is one step. */
static inline unsigned coldness(uint64_t age_ns) {
    unsigned steps = 0;
    for (uint64_t seconds = age_ns / 1000000000; seconds; seconds /= 2)
        steps++;
    return steps;
}

#endif
