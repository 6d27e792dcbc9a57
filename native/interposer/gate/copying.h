/* Synchronous copies. The driver makes them in pieces, from the program's own thread, so no event
 * tells when one has ended. Instead, the threads that are in a copy are counted, and a turn does
 * not end while there are any. Where calls are marked, copies are marked too. */
#ifndef NVSHARE_COPYING_H
#define NVSHARE_COPYING_H

#include <cuda.h>

#include "gate.h"

/* A synchronous copy. */
struct copying {
    struct gate *gate; /* the gate that it has passed, and is counted at */
    bool came_slowly;  /* it came through copying_waits: the thread is marked */
};

/* For a copy that cannot simply pass. */
CUresult copying_waits(CUstream stream, struct copying *copying);

/* Passes the gate. Returns CUDA_SUCCESS, or the error that the program gets instead of the copy. */
static inline CUresult copying_begins(CUstream stream, struct copying *copying) {
    struct gate *gate = gate_here();
    copying->gate = gate;
    copying->came_slowly = false;
    if (!gate_lets_pass(gate))
        return copying_waits(stream, copying);
    atomic_fetch_add(&gate->copying, 1);
    /* The gate may have closed before the copy was counted. Then nothing waits for the copy. */
    if (__builtin_expect(atomic_load(&gate->open), 1))
        return CUDA_SUCCESS;
    atomic_fetch_sub(&gate->copying, 1);
    return copying_waits(stream, copying);
}

static inline void copying_ends(const struct copying *copying) {
    if (__builtin_expect(copying->came_slowly, 0))
        gate_leave();
    atomic_fetch_sub(&copying->gate->copying, 1);
}

#endif
