#include "moment.h"

#include <stdlib.h>

#include "memory/pools.h"
#include "process/contexts.h"

static struct moment *spare;

uint64_t moment_stream(CUstream stream) {
    unsigned long long number = 0;
    return real.cuStreamGetId(stream, &number) == CUDA_SUCCESS ? number : 0;
}

/* Moments of contexts that are gone are freed on the way. */
static struct moment *take_spare(uint64_t context) {
    for (struct moment **at = &spare, *one; (one = *at);) {
        bool fits = one->context == context;
        if (!fits && context_exists(one->context)) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        if (fits)
            return one;
        free(one);
    }
    return NULL;
}

static struct moment *make(uint64_t context) {
    struct moment *moment = calloc(1, sizeof *moment);
    if (!moment)
        return NULL;
    moment->context = context;
    if (real.cuEventCreate(&moment->event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
        return moment;
    free(moment);
    return NULL;
}

static struct moment *get(uint64_t context) {
    pools_lock();
    struct moment *moment = take_spare(context);
    pools_unlock();
    return moment ? moment : make(context);
}

/* An event belongs to one context, and the stream may belong to another. Then, and without an
 * event, waits for the stream. */
CUresult moment_now(CUstream stream, struct moment **out) {
    const struct context *context = context_here();
    struct moment *moment = context ? get(context->id) : NULL;
    *out = NULL;
    CUresult result =
        moment ? real.cuEventRecord(moment->event, stream) : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) {
        moment->stream = moment_stream(stream);
        *out = moment;
        return result;
    }
    pools_lock();
    moment_drop(moment);
    pools_unlock();
    return result == CUDA_ERROR_INVALID_HANDLE ? real.cuStreamSynchronize(stream) : result;
}

/* During a capture by any thread, an ordinary query would invalidate it. */
static bool is_over(CUevent event) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    real.cuThreadExchangeStreamCaptureMode(&mode);
    bool is_over = real.cuEventQuery(event) != CUDA_ERROR_NOT_READY;
    real.cuThreadExchangeStreamCaptureMode(&mode);
    return is_over;
}

static bool is_over_in(CUcontext context, CUevent event) {
    CUcontext current = NULL, popped;
    if (real.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context)
        return is_over(event);
    if (real.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return true;
    bool result = is_over(event);
    real.cuCtxPopCurrent_v2(&popped);
    return result;
}

/* A context's work is gone with it. The context cannot go while the list is locked. */
bool moment_has_passed(const struct moment *moment) {
    bool result = true;
    contexts_lock();
    for (const struct context *one = contexts_first(); one; one = one->next)
        if (one->id == moment->context)
            result = is_over_in(one->handle, moment->event);
    contexts_unlock();
    return result;
}

void moment_drop(struct moment *moment) {
    if (!moment)
        return;
    moment->next = spare;
    spare = moment;
}

void moments_forget(void) {
    spare = NULL;
}
