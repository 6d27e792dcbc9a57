#include "drain.h"

#include "contexts.h"
#include "devices.h"
#include "streams.h"

/* Calls from a thread that has no context of its own, and must spoil nobody's capture. */
static bool enter(const struct context *context) {
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    real.cuThreadExchangeStreamCaptureMode(&relaxed);
    return real.cuCtxPushCurrent_v2(context->handle) == CUDA_SUCCESS;
}

static void leave(void) {
    CUcontext context;
    real.cuCtxPopCurrent_v2(&context);
}

/* An event in the default stream comes after all work in ordinary streams, of every thread. */
static void mark(struct context *context) {
    if (!enter(context))
        return;
    if (!context->probe &&
        real.cuEventCreate(&context->probe, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        context->probe = NULL;
    if (context->probe)
        real.cuEventRecord(context->probe, CU_STREAM_LEGACY);
    leave();
}

bool drain_mark(struct device *device) {
    contexts_lock();
    streams_lock();
    bool possible = !streams_any_capture();
    for (struct context *c = contexts_first(); c && possible; c = c->next)
        if (c->device == device)
            mark(c);
    streams_unlock();
    contexts_unlock();
    return possible;
}

/* A context that has failed answers with its error, and runs nothing any more. */
static bool is_busy(struct context *context) {
    if (!enter(context))
        return false;
    bool busy = context->probe && real.cuEventQuery(context->probe) == CUDA_ERROR_NOT_READY;
    busy = busy || streams_any_busy(context->id);
    leave();
    return busy;
}

bool drain_is_done(struct device *device) {
    bool busy = atomic_load(&device->gate.copying) > 0;
    contexts_lock();
    streams_lock();
    for (struct context *c = contexts_first(); c && !busy; c = c->next)
        if (c->device == device)
            busy = is_busy(c);
    streams_unlock();
    contexts_unlock();
    return !busy;
}
