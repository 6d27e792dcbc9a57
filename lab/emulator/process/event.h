/* Events: a place in a stream's order, and the time when the stream got there. */
#ifndef NVSHARE_EMULATOR_EVENT_H
#define NVSHARE_EMULATOR_EVENT_H

#include "context.h"
#include "shared_event.h"

#define EVENT_MAGIC 0x45766e31u

struct capture_mark; /* see ../api/capture.h */

/* One recording. Shared by the event, until it is recorded again, and the operation under way. */
struct event_record {
    uint32_t users;
    bool done;
    uint32_t queue;
    uint64_t ticket;
    uint64_t finished_at;
    struct shared_event shared; /* a copy of the event's; without a cell: this process's own */
    uint64_t number;            /* of the recording, in the cell */
};

struct CUevent_st {
    uint32_t magic;
    unsigned flags;
    struct CUctx_st *context;
    struct event_record *record;   /* NULL: never recorded */
    struct capture_mark *captured; /* recorded in a stream that was being captured */
    struct shared_event shared;    /* without a cell: this process's own */
    bool is_import;                /* made by another process */
};

/* Creates an event. `import`, if given, is an interprocess event that another process has made. */
CUresult event_create(struct CUctx_st *context, unsigned flags, const struct shared_event *import,
                      CUevent *out);
void event_destroy(CUevent event);

static inline bool event_exists(CUevent event) {
    return event && event->magic == EVENT_MAGIC;
}

/* CUDA_SUCCESS or CUDA_ERROR_NOT_READY. */
CUresult event_query(CUevent event);
void event_wait(CUevent event);
CUresult event_elapsed_ms(CUevent from, CUevent to, float *ms);

#endif
