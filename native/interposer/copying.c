#include "copying.h"

#include "submit.h"

CUresult copying_waits(CUstream stream, struct device **device) {
    *device = NULL;
    for (;;) {
        CUresult refused = submit_copy(stream);
        struct device *here = refused ? NULL : device_of_gate(gate_thread.gate);
        if (!here)
            return refused;
        atomic_fetch_add(&here->copying, 1);
        if (!gate_is_closed(&here->gate)) {
            *device = here;
            return CUDA_SUCCESS;
        }
        atomic_fetch_sub(&here->copying, 1);
    }
}
