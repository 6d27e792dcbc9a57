/* Synchronous copies. The driver makes them in pieces, from the program's own thread, so no event
 * tells when one has ended. Instead, the threads that are in a copy are counted, and a turn does
 * not end while there are any. Where copies count towards a share, they are measured like any other
 * call. Where calls are marked, copies are marked too. */
#ifndef NVSHARE_COPYING_H
#define NVSHARE_COPYING_H

#include "gate.h"
#include "shares/meter.h"

/* A synchronous copy. */
struct copying {
    struct gate *gate; /* the gate that it has passed, and is counted at */
    bool came_slowly;  /* it came through copying_waits: the thread is marked */
    bool is_metered;   /* its time on the GPU is measured */
};

/* For a copy that cannot simply pass, and for the end of such a copy. */
CUresult copying_waits(CUstream stream, struct copying *copying);
void copying_leaves(CUstream stream, const struct copying *copying);

/* Passes the gate. Returns CUDA_SUCCESS, or the error that the program gets instead of the copy. */
static inline CUresult copying_begins(CUstream stream, struct copying *copying) {
    struct gate *gate = gate_here();
    copying->gate = gate;
    copying->came_slowly = false;
    if (!gate_lets_pass(gate) || (gate_meters_copies(gate) && --gate_thread.budget < 0))
        return copying_waits(stream, copying);
    atomic_fetch_add(&gate->copying, 1);
    /* The gate may have closed before the copy was counted. Then nothing waits for the copy. */
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
