/* Stream capture: work submitted to streams becomes the nodes of a graph.
 *
 * A capture begins in one stream. Another stream joins when it waits for an event that was recorded
 * in a stream of the capture, and must itself be waited for before the capture ends. Each stream
 * keeps the set of nodes that its next node will come after. An error invalidates the whole
 * capture; the program can then only end it.
 *
 * Captures have a lock of their own. The driver's lock may be taken inside it, not the other way
 * round: none of these functions may be called with the driver's lock held. */
#ifndef NVSHARE_EMULATOR_CAPTURE_H
#define NVSHARE_EMULATOR_CAPTURE_H

#include "../process/event.h"
#include "../process/task.h"

struct capture_mark; /* where a captured stream was when an event was recorded in it */

/* Streams that are part of a capture, in the whole process. Read without a lock: a program that
 * races with its own capture has no right to either answer. */
extern unsigned capture_streams;

bool capture_blocks_legacy(const struct CUstream_st *legacy);

/* Must a task go through capture_add() although its stream is not being captured? It may wait for a
 * captured event, or be in the legacy stream, which captures make unusable. */
static inline bool capture_concerns(const struct CUstream_st *stream, const struct task *task) {
    if (task->kind == TASK_EVENT_WAIT && task->event.event->captured)
        return true;
    return capture_streams && stream->is_legacy && capture_blocks_legacy(stream);
}

/* Adds a task to the capture of its stream. */
CUresult capture_add(struct CUstream_st *stream, const struct task *task);

/* Adds a graph that is launched in a captured stream, as a child graph. */
CUresult capture_add_graph(struct CUstream_st *stream, CUgraph graph);

/* May this stream be synchronised or queried? If not, the attempt invalidates the capture. */
CUresult capture_forbids(struct CUstream_st *stream);

/* The same for all streams of a context, which cuCtxSynchronize waits for. */
CUresult capture_forbids_context(const struct CUctx_st *context);

/* May this event be queried or waited for by the CPU? */
CUresult capture_forbids_event(CUevent event);

/* May the calling thread act outside the order of any stream, such as allocate memory? Asked by all
 * calls that the documentation of cuThreadExchangeStreamCaptureMode calls potentially unsafe. */
CUresult capture_forbids_unsafe(void);

/* The stream is about to be destroyed. */
void capture_abandon(struct CUstream_st *stream);

/* The event was recorded in a stream that is not captured, and is an ordinary event again. */
void capture_forget(CUevent event);
void capture_mark_drop(struct capture_mark *mark);

#endif
