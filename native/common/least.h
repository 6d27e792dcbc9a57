/* The smaller of two amounts. */
#ifndef NVSHARE_LEAST_H
#define NVSHARE_LEAST_H

#include <stdint.h>

static inline uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

#endif
