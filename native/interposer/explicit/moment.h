/* A moment in the order of a stream: everything that was submitted to it before is done when the moment has passed.
 * It is an event of the driver's; those that have passed are used again. The caller holds the lock of the pools,
 * except where it is said. */
#ifndef NVSHARE_EXPLICIT_MOMENT_H
#define NVSHARE_EXPLICIT_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

struct moment {
    CUevent event;
    uint64_t context; /* the number of the one that it is of */
    uint64_t stream;  /* as moment_stream says */
    struct moment *next;
};

/* A number for a stream that no other one ever has, or 0 if the driver cannot tell. Without the lock. */
uint64_t moment_stream(CUstream stream);

/* The present moment in a stream. *out is NULL if it has passed already. Without the lock. */
CUresult moment_now(CUstream stream, struct moment **out);

bool moment_has_passed(const struct moment *moment);

/* Nobody asks for it any more. NULL is allowed. */
void moment_drop(struct moment *moment);

/* In a child after fork. */
void moments_forget(void);

#endif
