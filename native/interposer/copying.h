/* Copies that return when they are done. The driver makes them in pieces, from the program's own thread, so that
 * no event tells when they have come to their end: the threads that are in one are counted. A turn does not
 * end while there are any. */
#ifndef NVSHARE_COPYING_H
#define NVSHARE_COPYING_H

#include "devices.h"
#include "gate.h"

/* For a copy that cannot simply pass the gate. */
CUresult copying_waits(CUstream stream, struct device **device);

/* Passes the gate. `device` is what to end the copy with; NULL if nobody looks after it. Returns what the
 * program gets instead of the copy, or CUDA_SUCCESS. */
static inline CUresult copying_begins(CUstream stream, struct device **device) {
    struct gate *gate = gate_thread.gate;
    if (__builtin_expect(!atomic_load_explicit(&gate->open, memory_order_relaxed), 0))
        return copying_waits(stream, device);
    *device = gate->knock_argument; /* as device_of_gate */
    if (__builtin_expect(!*device, 0))
        return CUDA_SUCCESS;
    atomic_fetch_add(&(*device)->copying, 1);
    /* The gate may have closed before it was counted, and nobody waits for it then. */
    if (__builtin_expect(atomic_load(&gate->open), 1))
        return CUDA_SUCCESS;
    atomic_fetch_sub(&(*device)->copying, 1);
    return copying_waits(stream, device);
}

static inline void copying_ends(struct device *device) {
    if (__builtin_expect(device != NULL, 1))
        atomic_fetch_sub(&device->copying, 1);
}

#endif
