#include "streams.h"

#include <pthread.h>
#include <stdlib.h>

#include "contexts.h"

struct stream {
    CUstream handle;
    uint64_t context;
    bool is_capturing;
    bool is_blocking; /* in the default stream's order */
    bool is_default;  /* listed only while it is being captured */
    struct stream *next;
};

static struct {
    pthread_mutex_t lock;
    struct stream *first;
    unsigned captures;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Every thread's own default stream has the same handle. While it is captured, the thread's
 * identity takes the handle's place. */
static CUstream name_of(CUstream stream) {
    return stream == CU_STREAM_PER_THREAD ? (CUstream)pthread_self() : stream;
}

static uint64_t context_number(void) {
    const struct context *context = context_here();
    return context ? context->id : 0;
}

static struct stream **find(CUstream handle) {
    struct stream **at = &state.first;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static struct stream *add(CUstream handle, uint64_t context) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->handle = handle;
    stream->context = context;
    stream->next = state.first;
    state.first = stream;
    return stream;
}

static void drop(struct stream **at) {
    struct stream *stream = *at;
    state.captures -= stream->is_capturing;
    *at = stream->next;
    free(stream);
}

bool stream_is_capturing(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = real.cuStreamIsCapturing(stream, &status);
    /* The default stream answers with an error while an ordinary stream is captured. A driver that
     * does not have this call has no captures. */
    return (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND) ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void stream_made(CUstream stream, bool is_blocking) {
    uint64_t context = context_number();
    streams_lock();
    struct stream *made = add(stream, context);
    if (made)
        made->is_blocking = is_blocking;
    streams_unlock();
}

void stream_gone(CUstream stream) {
    streams_lock();
    struct stream **at = find(stream);
    if (*at)
        drop(at);
    streams_unlock();
}

void streams_gone(uint64_t context) {
    streams_lock();
    for (struct stream **at = &state.first; *at;)
        if ((*at)->context == context)
            drop(at);
        else
            at = &(*at)->next;
    streams_unlock();
}

uint64_t stream_capture_begins(void) {
    uint64_t context = context_number(); /* takes the lock of contexts, which comes before ours */
    streams_lock();
    return context;
}

void stream_capture_begun(CUstream handle, uint64_t context, CUresult result) {
    CUstream name = name_of(handle);
    struct stream *stream = *find(name);
    if (result == CUDA_SUCCESS && !stream && (stream = add(name, context)))
        stream->is_default = true;
    if (result == CUDA_SUCCESS && stream && !stream->is_capturing) {
        stream->is_capturing = true;
        state.captures++;
    }
    streams_unlock();
}

void stream_capture_ended(CUstream handle) {
    streams_lock();
    struct stream **at = find(name_of(handle));
    if (*at && (*at)->is_default) {
        drop(at);
    } else if (*at && (*at)->is_capturing) {
        (*at)->is_capturing = false;
        state.captures--;
    }
    streams_unlock();
}

void streams_lock(void) {
    pthread_mutex_lock(&state.lock);
}

void streams_unlock(void) {
    pthread_mutex_unlock(&state.lock);
}

bool streams_any_capture(void) {
    return state.captures > 0;
}

static bool has_work(CUstream stream) {
    return real.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
}

static const struct stream *busy_one(uint64_t context, bool only_blocking) {
    for (const struct stream *stream = state.first; stream; stream = stream->next)
        if (stream->context == context && !stream->is_capturing && !stream->is_default &&
            (stream->is_blocking || !only_blocking) && has_work(stream->handle))
            return stream;
    return NULL;
}

bool streams_any_busy(uint64_t context) {
    return busy_one(context, false) != NULL;
}

static bool any_blocking_busy(uint64_t context) {
    return has_work(CU_STREAM_LEGACY) || busy_one(context, true);
}

CUstream streams_busy_one(uint64_t context) {
    const struct stream *stream = busy_one(context, false);
    return stream ? stream->handle : has_work(CU_STREAM_LEGACY) ? CU_STREAM_LEGACY : NULL;
}

bool stream_is_free(CUstream handle, uint64_t context) {
    if (handle == CU_STREAM_LEGACY)
        return !any_blocking_busy(context);
    const struct stream *stream = *find(handle);
    if (!stream || stream->is_capturing || has_work(handle))
        return false;
    return !stream->is_blocking || !has_work(CU_STREAM_LEGACY);
}

void streams_forget(void) {
    pthread_mutex_init(&state.lock, NULL);
    state.first = NULL;
    state.captures = 0;
}
