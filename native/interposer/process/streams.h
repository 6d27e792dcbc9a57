/* The streams of the program, and which of them are being captured.
 *
 * An event in the default stream tells when everything in ordinary streams is done, those of all threads included. It does not
 * tell what non-blocking streams do; these have to be asked one by one. And from then on ordinary streams wait for
 * it: if one of them has work that waits for work in another, neither ends. So all are asked before there is an event. A stream that is being captured must not
 * be touched, and while an ordinary stream is captured the default stream must not be touched either:
 * that would spoil the capture. streams_lock keeps captures from beginning while somebody looks. */
#ifndef NVSHARE_STREAMS_H
#define NVSHARE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

/* The stream that a call uses, by a name that means the same in every flavour of the API. */
static inline CUstream stream_legacy(CUstream stream) {
    return stream ? stream : CU_STREAM_LEGACY;
}

static inline CUstream stream_per_thread(CUstream stream) {
    return stream ? stream : CU_STREAM_PER_THREAD;
}

/* Whether a stream is being captured, or must be treated as if it were. */
bool stream_is_capturing(CUstream stream);

/* A stream of the current context that was made; a stream that goes; all of a context. */
void stream_made(CUstream stream, bool is_blocking);
void stream_gone(CUstream stream);
void streams_gone(uint64_t context);

/* Around the driver's call; the lock is held in between. Returns the number of the current context. */
uint64_t stream_capture_begins(void);
void stream_capture_begun(CUstream stream, uint64_t context, CUresult result);
void stream_capture_ended(CUstream stream);

void streams_lock(void);
void streams_unlock(void);
/* With the lock held: whether any capture is going on; whether any of a context's streams has work, or one that
 * follows the default stream's order; and one that has, the default stream included, or NULL. The context is the current
 * one. */
bool streams_any_capture(void);
bool streams_any_busy(uint64_t context);
bool streams_any_blocking_busy(uint64_t context);
CUstream streams_busy_one(uint64_t context);

/* The same for one: whether a call for it would run at once. */
bool stream_is_free(CUstream stream, uint64_t context);

/* In a child after fork. */
void streams_forget(void);

#endif
