/* The limits that a program was started with.
 *
 * Generated from protocol/limits.toml by `python -m protocol.generate`: do not edit. */
#ifndef NVSHARE_LIMITS_H
#define NVSHARE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "frames.h"

struct limits {
    uint64_t memory_limit;    /* an amount of memory such as 4Gi or 1500Mi; 0: none */
    uint32_t compute_percent; /* a number from 1 to 100; 0: none */
    uint32_t flags;           /* enum limit_flags */
    bool is_wrong;            /* one of them cannot be understood */
};

/* Reads the environment. */
void limits_read(struct limits *limits);

/* Tells the daemon. */
void limits_tell(const struct limits *limits, struct frame_hello *hello);

#endif
