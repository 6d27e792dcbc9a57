/* The calls that a capture under way forbids. A call that breaks a rule gets an error, and
 * invalidates the capture: the program would not get the graph that it expects. */
#include "capture_state.h"

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    REQUIRE_DRIVER();
    REQUIRE(mode && (unsigned)*mode <= CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE);
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* Does the capture have a stream of this context that the legacy stream would have to wait for? */
static bool has_blocking(const struct sequence *sequence, const struct CUctx_st *context) {
    for (const struct capture *c = sequence->streams; c; c = c->next)
        if (c->stream->context == context && !(c->stream->flags & CU_STREAM_NON_BLOCKING))
            return true;
    return false;
}

static bool has_context(const struct sequence *sequence, const struct CUctx_st *context) {
    for (const struct capture *c = sequence->streams; c; c = c->next)
        if (c->stream->context == context)
            return true;
    return false;
}

/* Invalidates every capture of a context that passes the test; returns whether there was one. */
static bool invalidate(const struct CUctx_st *context,
                       bool (*concerned)(const struct sequence *, const struct CUctx_st *)) {
    bool any = false;
    for (struct sequence *s = captures_first(); s; s = s->next) {
        if (concerned(s, context))
            any = s->invalidated = true;
    }
    return any;
}

bool capture_blocks_legacy(const struct CUstream_st *legacy) {
    bool blocked = false;
    captures_lock();
    for (const struct sequence *s = captures_first(); s && !blocked; s = s->next)
        blocked = has_blocking(s, legacy->context);
    captures_unlock();
    return blocked;
}

CUresult legacy_check(const struct CUstream_st *stream) {
    if (stream->is_legacy && invalidate(stream->context, has_blocking))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return CUDA_SUCCESS;
}

static CUresult forbid(struct sequence *sequence, CUresult error) {
    if (sequence->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return sequence_fail(sequence, error);
}

CUresult capture_forbids(struct CUstream_st *stream) {
    if (!capture_streams)
        return CUDA_SUCCESS;
    captures_lock();
    CUresult result = legacy_check(stream);
    if (stream->capture)
        result = forbid(stream->capture->sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    captures_unlock();
    return result;
}

CUresult capture_forbids_context(const struct CUctx_st *context) {
    if (!capture_streams)
        return CUDA_SUCCESS;
    captures_lock();
    bool any = invalidate(context, has_context);
    captures_unlock();
    return any ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult capture_forbids_event(CUevent event) {
    if (!event->captured)
        return CUDA_SUCCESS;
    captures_lock();
    CUresult result = event->captured ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
    if (event->captured)
        event->captured->sequence->invalidated = true;
    captures_unlock();
    return result;
}

/* As the documentation of cuThreadExchangeStreamCaptureMode says. */
static bool forbids_thread(const struct sequence *sequence) {
    if (sequence->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (pthread_equal(sequence->thread, pthread_self()))
        return true;
    return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           sequence->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_forbids_unsafe(void) {
    if (!capture_streams || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    captures_lock();
    for (struct sequence *s = captures_first(); s; s = s->next) {
        if (forbids_thread(s)) {
            s->invalidated = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    captures_unlock();
    return result;
}
