#include "drain.h"

#include "process/contexts.h"
#include "process/devices.h"
#include "process/streams.h"

enum { WAITERS = 64 }; /* threads at the gate that are looked at */

/* For calls from a thread without a context of its own, which must not invalidate any capture. */
static bool enter(const struct context *context) {
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    real.cuThreadExchangeStreamCaptureMode(&relaxed);
    return real.cuCtxPushCurrent_v2(context->handle) == CUDA_SUCCESS;
}

static void leave(void) {
    CUcontext context;
    real.cuCtxPopCurrent_v2(&context);
}

/* With the locks held: whether it is so for any context on the device. That context is current
 * meanwhile. */
typedef bool question(struct context *context, void *data);

static bool ask_all(struct device *device, question *is_so, void *data) {
    bool any = false;
    for (struct context *c = contexts_first(); c && !any; c = c->next)
        if (c->device == device && enter(c)) {
            any = is_so(c, data);
            leave();
        }
    return any;
}

static bool ask(struct device *device, question *is_so, void *data) {
    contexts_lock();
    streams_lock();
    bool any = ask_all(device, is_so, data);
    streams_unlock();
    contexts_unlock();
    return any;
}

static bool has_work(struct context *context, void *nothing) {
    (void)nothing;
    return streams_busy_one(context->id) != NULL;
}

/* An event in the default stream comes after all work in ordinary streams, of every thread. */
static bool mark(struct context *context, void *nothing) {
    (void)nothing;
    if (!context->probe &&
        real.cuEventCreate(&context->probe, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        context->probe = NULL;
    if (context->probe)
        real.cuEventRecord(context->probe, CU_STREAM_LEGACY);
    return false;
}

enum drain_mark drain_mark(struct device *device) {
    enum drain_mark result = DRAIN_UNKNOWN;
    contexts_lock();
    streams_lock();
    if (!streams_any_capture())
        result = ask_all(device, has_work, NULL) ? DRAIN_BUSY : DRAIN_MARKED;
    if (result == DRAIN_MARKED)
        ask_all(device, mark, NULL);
    streams_unlock();
    contexts_unlock();
    return result;
}

/* A failed context answers with its error, and runs nothing any more. */
static bool is_busy(struct context *context, void *nothing) {
    (void)nothing;
    return (context->probe && real.cuEventQuery(context->probe) == CUDA_ERROR_NOT_READY) ||
           streams_any_busy(context->id);
}

bool drain_is_done(struct device *device) {
    return !atomic_load(&device->gate.copying) && !ask(device, is_busy, NULL);
}

struct waiters {
    unsigned count;
    struct gate_waiter list[WAITERS];
};

static bool is_free(const struct gate_waiter *waiter, const struct context *context) {
    if (!waiter->stream)
        return true;
    return waiter->context == context->id && waiter->stream != CU_STREAM_PER_THREAD &&
           stream_is_free(waiter->stream, context->id);
}

static bool could_go_on(struct context *context, void *data) {
    const struct waiters *waiters = data;
    bool any = false;
    if (streams_any_capture())
        return false;
    for (unsigned i = 0; i < waiters->count && !any; i++)
        any = is_free(&waiters->list[i], context);
    return any;
}

bool drain_could_go_on(struct device *device) {
    struct waiters waiters;
    waiters.count = gate_list_waiters(&device->gate, waiters.list, WAITERS);
    return ask(device, could_go_on, &waiters);
}

/* Recorded in the stream of the work itself, so that nothing else has to wait for this event. */
static bool note_old(struct context *context, void *any) {
    CUstream stream = streams_any_capture() ? NULL : streams_busy_one(context->id);
    context->has_old = false;
    if (!stream)
        return false;
    if (!context->old && real.cuEventCreate(&context->old, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        context->old = NULL;
    context->has_old = context->old && real.cuEventRecord(context->old, stream) == CUDA_SUCCESS;
    *(bool *)any |= context->has_old;
    return false;
}

bool drain_note_old(struct device *device) {
    bool any = false;
    ask(device, note_old, &any);
    return any;
}

static bool has_old(struct context *context, void *nothing) {
    (void)nothing;
    return context->has_old && real.cuEventQuery(context->old) == CUDA_ERROR_NOT_READY;
}

bool drain_old_is_done(struct device *device) {
    return !ask(device, has_old, NULL);
}
