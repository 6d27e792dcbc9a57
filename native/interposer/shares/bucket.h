/* A share of time, kept by one number: until when the time that was used is paid for.
 *
 * At a share of a quarter, one second of use is paid for with four seconds of time. Who has used more
 * than that is paid for into the future, and has to wait; who has used less has time to its credit, as
 * much as the window at most. One number instead of a level and a moment: it is changed by one atomic
 * step, so that several processes may have it together in shared memory, and none can leave it half
 * changed.
 *
 * Plain C: it knows nothing of GPUs. Times are those of clock.h. */
#ifndef NVSHARE_BUCKET_H
#define NVSHARE_BUCKET_H

#include <stdatomic.h>
#include <stdint.h>

struct rate {
    uint32_t share_ppm; /* of the time, in millionths; 0: all of it */
    uint64_t window_ns; /* most that can be to its credit */
};

/* In a program's own memory, or in the page of its group. */
struct bucket {
    _Atomic uint64_t *paid_until; /* 0: nothing was ever used */
};

/* So much was used. */
void bucket_bill(struct bucket *bucket, const struct rate *rate, uint64_t used_ns, uint64_t now);

/* What is used in excess stays unpaid for good: for time that nobody else wanted. */
void bucket_forgive(struct bucket *bucket, uint64_t now);

/* What could be used now without waiting; 0 or less: nothing. */
int64_t bucket_left(const struct bucket *bucket, const struct rate *rate, uint64_t now);

/* For one who has used everything: when to go on. That is later than needed, so that it goes on for a
 * while then, and not call by call: it uses its share in a cycle of half a window. */
uint64_t bucket_next(const struct bucket *bucket, const struct rate *rate);

/* There is another rate from now on. A longer window does not bring credit for the past; it begins with
 * what a cycle of it begins with. */
void bucket_change(struct bucket *bucket, const struct rate *before, const struct rate *after,
                   uint64_t now);

#endif
