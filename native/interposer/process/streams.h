/* The streams of the program, and which of them are being captured.
 *
 * An event in the default stream tells when all work in ordinary streams is done, those of all
 * threads included. It does not cover non-blocking streams, which have to be queried one by one.
 * And from then on ordinary streams wait for the event: if one of them has work that waits for work
 * in another, neither ends. So all streams are queried before an event is recorded. A stream that
 * is being captured must not be touched, and while an ordinary stream is captured neither must the
 * default stream: that would invalidate the capture. streams_lock keeps captures from beginning
 * meanwhile. */
#ifndef NVSHARE_STREAMS_H
#define NVSHARE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

/* The stream of a call, by a handle that means the same in both flavours of the API. */
static inline CUstream stream_legacy(CUstream stream) {
    return stream ? stream : CU_STREAM_LEGACY;
}

static inline CUstream stream_per_thread(CUstream stream) {
    return stream ? stream : CU_STREAM_PER_THREAD;
}

/* Whether a stream is being captured, or must be treated as if it were. */
bool stream_is_capturing(CUstream stream);

/* A stream of the current context was made; a stream is gone; all streams of a context are. */
void stream_made(CUstream stream, bool is_blocking);
void stream_gone(CUstream stream);
void streams_gone(uint64_t context);

/* Around the driver's call; the lock is held in between. Returns the number of the current
 * context. */
uint64_t stream_capture_begins(void);
void stream_capture_begun(CUstream stream, uint64_t context, CUresult result);
void stream_capture_ended(CUstream stream);

void streams_lock(void);
void streams_unlock(void);
/* With the lock held: whether there is any capture; whether any stream of a context has work; and one
 * that has work, the default stream included, or NULL. The context is current. */
bool streams_any_capture(void);
bool streams_any_busy(uint64_t context);
CUstream streams_busy_one(uint64_t context);

/* With the lock held: whether a call for this stream would run at once. */
bool stream_is_free(CUstream stream, uint64_t context);

/* In a child after fork. */
void streams_forget(void);

#endif
