/* A moment in the order of a stream: when it has passed, all work submitted to the stream before is
 * done. It is an event of the driver's; passed ones are reused. The caller holds the lock of the
 * pools, unless said otherwise. */
#ifndef NVSHARE_EXPLICIT_MOMENT_H
#define NVSHARE_EXPLICIT_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

struct moment {
    CUevent event;
    uint64_t context; /* the number of its context */
    uint64_t stream;  /* as moment_stream returns it */
    struct moment *next;
};

/* A number for a stream that is never reused, or 0 if the driver cannot tell. Without the lock. */
uint64_t moment_stream(CUstream stream);

/* The present moment in a stream. *out is NULL if it has passed already. Without the lock. */
CUresult moment_now(CUstream stream, struct moment **out);

bool moment_has_passed(const struct moment *moment);

/* Gives a moment back. NULL is allowed. */
void moment_drop(struct moment *moment);

/* In a child after fork. */
void moments_forget(void);

#endif
