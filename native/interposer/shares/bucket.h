/* A share of time, kept in one number: until when the used time is paid for.
 *
 * At a share of a quarter, one second of use costs four seconds of time. A program that has used
 * more is paid for into the future, and has to wait. One that has used less has credit, up to the
 * window. One number is used instead of a level and a moment: it is changed by one atomic step, so
 * that several processes can share it in memory, and none can leave it half changed.
 *
 * Plain C: it knows nothing of GPUs. Times are those of clock.h. */
#ifndef NVSHARE_BUCKET_H
#define NVSHARE_BUCKET_H

#include <stdatomic.h>
#include <stdint.h>

struct rate {
    uint32_t share_ppm; /* of the time, in millionths; 0: all of it */
    uint64_t window_ns; /* the most credit that it can have */
};

/* In a program's own memory, or in the page of its group. */
struct bucket {
    _Atomic uint64_t *paid_until; /* 0: nothing was ever used */
};

/* Bills used time. */
void bucket_bill(struct bucket *bucket, const struct rate *rate, uint64_t used_ns, uint64_t now);

/* Forgives excess use permanently: for time that no other program wanted. */
void bucket_forgive(struct bucket *bucket, uint64_t now);

/* What could be used now without waiting; nothing if 0 or less. */
int64_t bucket_left(const struct bucket *bucket, const struct rate *rate, uint64_t now);

/* For a program that has used everything: when to go on. That is later than needed, so that it then
 * goes on for a while, and not call by call: it uses its share in a cycle of half a window. */
uint64_t bucket_next(const struct bucket *bucket, const struct rate *rate);

/* Changes the rate. A longer window gives no credit for the past; it begins with what a cycle of it
 * begins with. */
void bucket_change(struct bucket *bucket, const struct rate *before, const struct rate *after,
                   uint64_t now);

#endif
