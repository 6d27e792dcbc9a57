#include "submit.h"

#include <limits.h>
#include <stdint.h>

#include "gate.h"
#include "inflight.h"
#include "inside.h"
#include "memory/sample.h"
#include "process/config.h"
#include "process/contexts.h"
#include "process/devices.h"

/* The gate of a program that nvshare leaves alone. */
static struct gate always_open = {.open = true, .passable = true};

/* Handles of real streams are addresses. */
static bool is_default(CUstream stream) {
    return (uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD;
}

/* Whether the call passes as most do. A thread whose marks are not seen is at no gate, and has to
 * take this gate's lock. */
static bool is_let_in(const struct gate *gate) {
    if (atomic_load_explicit(&gate->open, memory_order_relaxed))
        return true;
    gate_mark();
    if (gate_here() == gate && atomic_load_explicit(&gate->open_to_marked, memory_order_relaxed))
        return true;
    gate_unmark();
    return false;
}

/* Only the thread itself can query its own default stream. */
static CUstream awaited(CUstream stream) {
    bool is_own = stream == CU_STREAM_PER_THREAD;
    return is_own && real.cuStreamQuery(stream) == CUDA_SUCCESS ? NULL : stream;
}

/* Waits, and notes the call's stream: other work may wait for this call (undrained.h). */
static CUresult wait_at(struct gate *gate, CUstream stream) {
    const struct context *context = context_here();
    gate_thread.stream = awaited(stream);
    gate_thread.context = context ? context->id : 0;
    int result = inside_enter(gate);
    gate_thread.stream = NULL;
    return result < 0 ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_SUCCESS;
}

/* Waits at the gate if it is closed. A call that goes into a capture runs later, with the graph. It
 * must not be held up: other threads may be waiting for the capture to end. */
static CUresult enter(struct gate *gate, CUstream stream) {
    if (is_let_in(gate))
        return CUDA_SUCCESS;
    if (gate_is_closed(gate) && stream_is_capturing(stream)) {
        gate_mark();
        return CUDA_SUCCESS;
    }
    return wait_at(gate, stream);
}

/* The thread's next calls look at this gate. */
static inline void come_to(struct gate *gate) {
    if (__builtin_expect(gate_here() == gate, 1))
        return;
    inside_be_known();
    gate_be_at(gate);
}

/* Plans which of the next calls is looked at, for the memory that it uses. It is chosen at random,
 * because programs repeat the same calls in the same order: every hundredth call might always be
 * the same kernel. Among short kernels there are enough calls to look at one in several hundred. */
static void plan(const struct device *device, long budget) {
    bool is_managed = atomic_load_explicit(&device->is_managed, memory_order_relaxed);
    gate_thread.budget = budget;
    gate_thread.is_sampled = is_managed && budget <= 0;
    gate_thread.random = gate_thread.random * 1664525 + 1013904223;
    if (!is_managed || budget <= 0 || (budget > 32 && gate_thread.random >> 31))
        return;
    gate_thread.rest = 1 + (long)((gate_thread.random << 1) * (uint64_t)budget >> 32);
    gate_thread.budget -= gate_thread.rest;
}

/* While there is memory that was never used, each call is looked at: it may be the first to use it.
 * Such a call has not paid from its budget yet. */
static bool is_looked_at(struct device *device) {
    if (!gate_is_curious(&device->gate))
        return false;
    gate_thread.budget--;
    return sample_wants(device);
}

/* A thread that waits for work in flight is not inside meanwhile. */
static CUresult pass(struct device *device, CUstream stream) {
    come_to(&device->gate);
    CUresult refused = enter(&device->gate, stream);
    gate_thread.is_sampled = !refused && is_looked_at(device);
    /* A call that passed by a ticket does not leave again: nothing of this GPU is in flight, and no
     * other call would be let in. */
    if (refused || gate_thread.budget >= 0 || gate_thread.is_stepped)
        return refused;
    if (gate_thread.rest) {
        gate_thread.budget = gate_thread.rest - 1;
        gate_thread.rest = 0;
        gate_thread.is_sampled = true;
        return CUDA_SUCCESS;
    }
    bool is_sampled = gate_thread.is_sampled;
    gate_leave();
    plan(device, inflight_step(device, stream));
    gate_thread.is_sampled |= is_sampled;
    /* The step may have taken a while, and the gate may have closed. */
    return enter(&device->gate, stream);
}

/* In a program with a share, every call takes this path, or one in a few if they are very short. */
static CUresult pass_with_share(struct device *device, CUstream stream, bool computes) {
    come_to(&device->gate);
    gate_thread.is_sampled = false;
    if (stream_is_capturing(stream)) {
        gate_mark();
        return CUDA_SUCCESS; /* captured calls run later */
    }
    share_wait(device);
    CUresult refused = enter(&device->gate, stream);
    if (refused)
        return refused;
    gate_thread.is_sampled = is_looked_at(device);
    if (!gate_thread.is_stepped && gate_thread.rest-- <= 0) {
        gate_leave();
        gate_thread.rest = inflight_step(device, stream);
        gate_thread.is_sampled |= atomic_load_explicit(&device->is_managed, memory_order_relaxed);
        refused = enter(&device->gate, stream);
    }
    gate_thread.is_metered = computes;
    gate_thread.budget = 0;
    if (!refused && gate_thread.is_metered)
        gate_thread.budget = meter_begin(device, stream) - 1;
    return refused;
}

static CUresult pass_either_way(struct device *device, CUstream stream, bool computes) {
    if (share_is_set(&device->share))
        return pass_with_share(device, stream, computes);
    return pass(device, stream);
}

/* Returns NULL for a stream that the driver itself will refuse. */
static struct device *go_to(CUstream stream) {
    CUcontext context;
    if (is_default(stream) || real.cuStreamGetCtx(stream, &context) != CUDA_SUCCESS ||
        real.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return NULL;
    struct device *device = device_here();
    if (!device)
        real.cuCtxPopCurrent_v2(&context);
    return device;
}

/* A thread that is inside and at no gate is inside all of them. */
static void come_back(void) {
    CUcontext context;
    real.cuCtxPopCurrent_v2(&context);
    gate_forget();
}

/* For a stream of a context that is not the current one. */
static CUresult submit_elsewhere(CUstream stream) {
    struct device *device = go_to(stream);
    gate_thread.is_stepped = false;
    if (!device) {
        gate_mark();
        return CUDA_SUCCESS;
    }
    CUresult refused = pass(device, stream);
    come_back();
    return refused;
}

static bool is_closed_to(CUstream stream) {
    struct device *device = go_to(stream);
    if (!device)
        return false;
    bool closed = gate_is_closed(&device->gate) && !stream_is_capturing(stream);
    come_back();
    return closed;
}

typedef CUstream stream_of_launch(const void *list, unsigned index);

/* The gates that have let this launch pass by a ticket (gate_step), and wait for it to begin. They
 * stay closed, and count as passed. */
typedef uint64_t stepped_t;

static bool has_stepped(stepped_t stepped, unsigned index) {
    return index < 64 && stepped >> index & 1;
}

static void lend(stepped_t *stepped, unsigned index, CUstream stream) {
    struct device *device = index < 64 ? go_to(stream) : NULL;
    if (!device)
        return;
    gate_lend(&device->gate);
    *stepped |= (stepped_t)1 << index;
    come_back();
}

static void return_all(stepped_t stepped, stream_of_launch *stream_of, const void *list) {
    for (unsigned i = 0; stepped >> i; i++) {
        struct device *device = has_stepped(stepped, i) ? go_to(stream_of(list, i)) : NULL;
        if (!device)
            continue;
        gate_return(&device->gate);
        come_back();
    }
}

static CUresult pass_each(unsigned count, stream_of_launch *stream_of, const void *list,
                          stepped_t *stepped) {
    for (unsigned i = 0; i < count; i++) {
        if (has_stepped(*stepped, i))
            continue;
        CUresult refused = submit_elsewhere(stream_of(list, i));
        if (refused)
            return refused;
        if (gate_thread.is_stepped)
            lend(stepped, i, stream_of(list, i));
        gate_leave();
    }
    return CUDA_SUCCESS;
}

/* A thread that waits at one gate must not be inside another: that one could not close, and may
 * have to. So each gate is passed on its own, and then all must be open at the same time. */
CUresult submit_everywhere(unsigned count, stream_of_launch *stream_of, const void *list) {
    stepped_t stepped = 0;
    CUresult refused = CUDA_SUCCESS;
    for (bool closed = true; closed && !refused;) {
        refused = pass_each(count, stream_of, list, &stepped);
        if (refused)
            break;
        gate_mark();
        closed = false;
        for (unsigned i = 0; i < count && !closed; i++)
            closed = !has_stepped(stepped, i) && is_closed_to(stream_of(list, i));
        if (closed)
            gate_leave();
    }
    return_all(stepped, stream_of, list);
    return refused;
}

static CUresult submit(CUstream stream, bool computes) {
    struct device *device = device_here();
    gate_thread.is_metered = gate_thread.is_stepped = false;
    if (device)
        return pass_either_way(device, stream, computes);
    if (config()->disable) {
        gate_thread = (struct gate_thread){.gate = &always_open, .budget = LONG_MAX, .inside = 1};
        return CUDA_SUCCESS;
    }
    /* A thread without a context may still use a stream that it was given. */
    return submit_elsewhere(stream);
}

CUresult submit_slow(CUstream stream) {
    return submit(stream, true);
}

CUresult submit_copy(CUstream stream) {
    return submit(stream, false);
}
