/* Events: a place in a stream's order, and the time when the stream got there. */
#include "event.h"

#include <stdlib.h>
#include <unistd.h>

#include "../api/capture.h"
#include "pool.h"
#include "task.h"

/* The interval for polling an event that another process has recorded. */
enum { GLANCE_US = 100 };

static bool share(struct CUevent_st *event, const struct shared_event *import) {
    if (import) {
        event->shared = *import;
        event->is_import = true;
        return true;
    }
    driver_lock();
    bool shared = shared_event_create(&event->shared);
    driver_unlock();
    return shared;
}

CUresult event_create(struct CUctx_st *context, unsigned flags, const struct shared_event *import,
                      CUevent *out) {
    struct CUevent_st *event = calloc(1, sizeof *event);
    if (!event || ((flags & CU_EVENT_INTERPROCESS) && !share(event, import))) {
        free(event);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->magic = EVENT_MAGIC;
    event->flags = flags;
    event->context = context;
    *out = event;
    return CUDA_SUCCESS;
}

static void drop_record(struct event_record *record) {
    if (record && __atomic_sub_fetch(&record->users, 1, __ATOMIC_ACQ_REL) == 0)
        free(record);
}

void event_destroy(CUevent event) {
    if (event->captured)
        capture_mark_drop(event->captured);
    drop_record(event->record);
    if (event->shared.cell && !event->is_import) {
        driver_lock();
        shared_event_release(&event->shared);
        driver_unlock();
    }
    event->magic = 0;
    free(event);
}

/* The event's recording, with a reference of the caller's. */
static struct event_record *take_record(CUevent event) {
    driver_lock();
    struct event_record *record = event->record;
    if (record)
        __atomic_add_fetch(&record->users, 1, __ATOMIC_ACQ_REL);
    driver_unlock();
    return record;
}

static void note_time(void *data, uint64_t finished_at) {
    struct event_record *record = data;
    record->finished_at = finished_at;
    if (record->shared.cell)
        shared_event_finish(&record->shared, record->number);
    __atomic_store_n(&record->done, true, __ATOMIC_RELEASE);
    drop_record(record);
}

CUresult queue_event_record(struct CUstream_st *stream, CUevent event, uint64_t *ticket) {
    struct event_record *record = calloc(1, sizeof *record);
    if (!record)
        return CUDA_ERROR_OUT_OF_MEMORY;
    record->users = 2;
    record->queue = stream->queue;
    record->shared = event->shared;
    if (event->shared.cell) {
        driver_lock();
        record->number = shared_event_record(&event->shared);
        driver_unlock();
    }
    /* The thread that queries a recording carries out its effect, so it needs no worker, unless
     * another process may query it. */
    *ticket = stream_push(
        stream, (struct operation){.kind = OPERATION_MARKER}, NULL,
        (struct effect){.run = note_time, .data = record, .eager = event->shared.cell != NULL});
    record->ticket = *ticket;
    driver_lock();
    struct event_record *before = event->record;
    event->record = record;
    driver_unlock();
    drop_record(before);
    return CUDA_SUCCESS;
}

/* Has another process recorded it last? Then there is no place in a queue of ours to wait for. */
static bool is_elsewhere(CUevent event) {
    if (!event->shared.cell)
        return false;
    driver_lock();
    bool elsewhere = !shared_event_is_ours(&event->shared);
    driver_unlock();
    return elsewhere;
}

static bool is_done_elsewhere(CUevent event) {
    driver_lock();
    bool done = shared_event_is_done(&event->shared);
    driver_unlock();
    return done;
}

static void wait_elsewhere(CUevent event) {
    while (!is_done_elsewhere(event))
        usleep(GLANCE_US);
}

CUresult queue_event_wait(struct CUstream_st *stream, CUevent event, uint64_t *ticket) {
    if (is_elsewhere(event)) {
        wait_elsewhere(event);
        *ticket = queue_newest(stream->queue);
        return CUDA_SUCCESS;
    }
    struct event_record *record = take_record(event);
    if (record && record->queue != stream->queue)
        stream_push_wait(stream, record->queue, record->ticket);
    drop_record(record);
    *ticket = queue_newest(stream->queue);
    return CUDA_SUCCESS;
}

CUresult event_query(CUevent event) {
    if (is_elsewhere(event))
        return is_done_elsewhere(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    struct event_record *record = take_record(event);
    if (!record)
        return CUDA_SUCCESS; /* never recorded counts as complete */
    if (!__atomic_load_n(&record->done, __ATOMIC_ACQUIRE))
        worker_pump();
    bool done = __atomic_load_n(&record->done, __ATOMIC_ACQUIRE);
    drop_record(record);
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

void event_wait(CUevent event) {
    if (is_elsewhere(event)) {
        wait_elsewhere(event);
        return;
    }
    struct event_record *record = take_record(event);
    if (record && !__atomic_load_n(&record->done, __ATOMIC_ACQUIRE))
        queue_wait(record->queue, record->ticket);
    drop_record(record);
    pools_trim();
}

CUresult event_elapsed_ms(CUevent from, CUevent to, float *ms) {
    if ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event_query(from) != CUDA_SUCCESS || event_query(to) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_READY;
    struct event_record *first = take_record(from), *second = take_record(to);
    CUresult result = first && second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        *ms = (float)(((double)second->finished_at - (double)first->finished_at) / 1e6);
    drop_record(first);
    drop_record(second);
    return result;
}
