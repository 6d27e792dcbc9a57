/* Streams: one queue of the node each, and the default streams of a context. */
#include <stdlib.h>

#include "../api/capture.h"
#include "../api/flavour.h"
#include "context.h"
#include "pool.h"
#include "worker.h"

/* The per-thread default streams of the calling thread, by context number. */
enum { REMEMBERED = 8 };
static _Thread_local struct {
    struct driver *of;
    struct {
        uint32_t context;
        struct CUstream_st *stream;
    } own[REMEMBERED];
} thread;

CUresult stream_create(struct CUctx_st *context, unsigned flags, int priority,
                       struct CUstream_st **out) {
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    driver_lock();
    stream->magic = STREAM_MAGIC;
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = driver_next_id();
    stream->queue = queue_open(context->gpu, context->number, priority);
    if (stream->queue != NO_INDEX && context->legacy) { /* the first one is the legacy stream */
        stream->next = context->streams;
        context->streams = stream;
    }
    driver_unlock();
    if (stream->queue == NO_INDEX) {
        free(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = stream;
    return CUDA_SUCCESS;
}

/* Work in the stream goes on. Its queue is free again when the work is done. */
void stream_destroy(struct CUstream_st *stream) {
    if (stream->capture)
        capture_abandon(stream);
    driver_lock();
    struct CUstream_st **at = &stream->context->streams;
    while (*at && *at != stream)
        at = &(*at)->next;
    if (*at)
        *at = stream->next;
    queue_close(stream->queue);
    driver_unlock();
    stream->magic = 0;
    free(stream);
}

CUresult stream_synchronize(struct CUstream_st *stream) {
    queue_wait(stream->queue, queue_newest(stream->queue));
    pools_trim();
    return stream->context->failed;
}

/* Made on first use. When a thread ends, its stream stays with the context. */
static CUresult per_thread_stream(struct CUctx_st *context, struct CUstream_st **out) {
    if (thread.of != driver) {
        thread.of = driver;
        for (int i = 0; i < REMEMBERED; i++)
            thread.own[i].context = 0;
    }
    int place = (int)(context->number % REMEMBERED);
    if (thread.own[place].context != context->number) {
        CUresult result = stream_create(context, CU_STREAM_DEFAULT, 0, &thread.own[place].stream);
        if (result != CUDA_SUCCESS)
            return result;
        thread.own[place].context = context->number;
    }
    *out = thread.own[place].stream;
    return CUDA_SUCCESS;
}

CUresult stream_resolve(CUstream handle, struct CUstream_st **out) {
    if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
        if (handle->magic != STREAM_MAGIC)
            return CUDA_ERROR_INVALID_HANDLE;
        *out = handle;
        return handle->context->failed;
    }
    struct CUctx_st *context = context_current();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (handle == CU_STREAM_PER_THREAD || (!handle && emulator_per_thread_default))
        return per_thread_stream(context, out);
    *out = context->legacy;
    return context->failed;
}
