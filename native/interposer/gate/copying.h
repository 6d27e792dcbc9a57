/* Synchronous copies. The driver makes them in pieces, from the program's own thread, so that
 * no event tells when they have come to their end: the threads that are in one are counted. A turn does not
 * end while there are any. Where copies count towards a share, they are measured as any other call; and where calls
 * are marked, copies are marked too. */
#ifndef NVSHARE_COPYING_H
#define NVSHARE_COPYING_H

#include "gate.h"
#include "shares/meter.h"

/* One of them. */
struct copying {
    struct gate *gate; /* that it has passed, and is counted at */
    bool came_slowly;  /* by copying_waits: the thread is marked */
    bool is_metered;   /* if so */
};

/* For a copy that cannot simply pass; and when one that could not has come to its end. */
CUresult copying_waits(CUstream stream, struct copying *copying);
void copying_leaves(CUstream stream, const struct copying *copying);

/* Passes the gate. Returns what the program gets instead of the copy, or CUDA_SUCCESS. */
static inline CUresult copying_begins(CUstream stream, struct copying *copying) {
    struct gate *gate = gate_here();
    copying->gate = gate;
    copying->came_slowly = false;
    if (!gate_lets_pass(gate) || (gate_meters_copies(gate) && --gate_thread.budget < 0))
        return copying_waits(stream, copying);
    atomic_fetch_add(&gate->copying, 1);
    /* The gate may have closed before it was counted, and nobody waits for it then. */
    if (__builtin_expect(atomic_load(&gate->open), 1))
        return CUDA_SUCCESS;
    atomic_fetch_sub(&gate->copying, 1);
    return copying_waits(stream, copying);
}

static inline void copying_ends(CUstream stream, const struct copying *copying) {
    if (__builtin_expect(copying->came_slowly, 0))
        copying_leaves(stream, copying);
    atomic_fetch_sub(&copying->gate->copying, 1);
}

#endif
