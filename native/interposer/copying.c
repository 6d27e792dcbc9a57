#include "copying.h"

#include "submit.h"

/* Whether a copy that was let in may begin. What no gate looks after does; so does what would go into a capture, as
 * the driver has to say itself that it cannot. Otherwise the gate may have closed again meanwhile. */
static bool may_begin(struct gate *gate, CUstream stream) {
    return gate == &gate_unknown || !gate_is_closed(gate) || stream_is_capturing(stream);
}

CUresult copying_waits(CUstream stream, struct copying *copying) {
    for (;;) {
        CUresult refused = submit_copy(stream);
        struct gate *gate = gate_thread.gate;
        if (refused)
            return refused;
        atomic_fetch_add(&gate->copying, 1);
        if (may_begin(gate, stream)) {
            *copying = (struct copying){gate, gate_thread.is_metered};
            return CUDA_SUCCESS;
        }
        atomic_fetch_sub(&gate->copying, 1);
    }
}
