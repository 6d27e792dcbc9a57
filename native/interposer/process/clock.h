/* Time, for the slow paths. */
#ifndef NVSHARE_CLOCK_H
#define NVSHARE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NEVER            UINT64_MAX
#define CLOCK_US(microseconds) ((uint64_t)(microseconds) * 1000)
#define CLOCK_MS(milliseconds) ((uint64_t)(milliseconds) * 1000000)

static inline uint64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
