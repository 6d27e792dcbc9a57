#include "streams.h"

#include <pthread.h>
#include <stdlib.h>

#include "contexts.h"

struct stream {
    CUstream handle;
    uint64_t context;
    bool is_capturing;
    bool is_ordinary; /* here only because it is being captured */
    struct stream *next;
};

static struct {
    pthread_mutex_t lock;
    struct stream *first;
    unsigned captures;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Every thread's own default stream has the same handle. For as long as it is captured, the thread's
 * identity takes its place. */
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
    /* The default stream answers with an error while an ordinary stream is captured. A driver too old
     * to know the question knows no captures. */
    return (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND) ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void stream_made(CUstream stream) {
    uint64_t context = context_number();
    streams_lock();
    add(stream, context);
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
        stream->is_ordinary = true;
    if (result == CUDA_SUCCESS && stream && !stream->is_capturing) {
        stream->is_capturing = true;
        state.captures++;
    }
    streams_unlock();
}

void stream_capture_ended(CUstream handle) {
    streams_lock();
    struct stream **at = find(name_of(handle));
    if (*at && (*at)->is_ordinary) {
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

bool streams_any_busy(uint64_t context) {
    for (struct stream *stream = state.first; stream; stream = stream->next)
        if (stream->context == context && !stream->is_capturing && !stream->is_ordinary &&
            real.cuStreamQuery(stream->handle) == CUDA_ERROR_NOT_READY)
            return true;
    return false;
}

void streams_forget(void) {
    pthread_mutex_init(&state.lock, NULL);
    state.first = NULL;
    state.captures = 0;
}
