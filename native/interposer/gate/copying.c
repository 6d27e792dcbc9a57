#include "copying.h"

#include "submit.h"

/* Whether a copy that was let in may begin: the gate may have closed again meanwhile. A copy that
 * no gate holds may begin, and so may one that passed by a ticket. A copy into a capture may,
 * because the driver itself has to refuse it. */
static bool may_begin(struct gate *gate, CUstream stream) {
    return gate == &gate_unknown || gate_thread.is_stepped || !gate_is_closed(gate) ||
           stream_is_capturing(stream);
}

/* The fast path of marked copies. */
static bool is_let_in(const struct gate *gate) {
    gate_mark();
    if (atomic_load_explicit(&gate->open_to_marked, memory_order_relaxed))
        return true;
    gate_unmark();
    return false;
}

CUresult copying_waits(CUstream stream, struct copying *copying) {
    if (is_let_in(copying->gate)) {
        atomic_fetch_add(&copying->gate->copying, 1);
        copying->came_slowly = true;
        return CUDA_SUCCESS;
    }
    for (;;) {
        CUresult refused = submit_copy(stream);
        struct gate *gate = gate_here();
        if (refused)
            return refused;
        atomic_fetch_add(&gate->copying, 1);
        if (may_begin(gate, stream)) {
            *copying = (struct copying){gate, .came_slowly = true};
            return CUDA_SUCCESS;
        }
        atomic_fetch_sub(&gate->copying, 1);
        gate_leave();
    }
}
