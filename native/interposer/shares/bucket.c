#include "bucket.h"

enum { MILLION = 1000000 };

/* More than two hours in one bill would not fit: no call runs for so long without a look in
 * between. */
static uint64_t time_for(const struct rate *rate, uint64_t used_ns) {
    const uint64_t most = UINT64_MAX / 2 / MILLION;
    return (used_ns < most ? used_ns : most) * MILLION / rate->share_ppm;
}

static uint64_t earliest(uint64_t window_ns, uint64_t now) {
    return now > window_ns ? now - window_ns : 0;
}

/* The part of half a window that the share leaves to others. */
static uint64_t rest_of_cycle(const struct rate *rate) {
    return rate->window_ns / 2 / MILLION * (MILLION - rate->share_ppm);
}

static uint64_t at_least(uint64_t value, uint64_t least) {
    return value < least ? least : value;
}

/* In the page of a group the number can be anything: each process of the group can write to it. It
 * stays far in the future then, and does not wrap to the past, where it would be unlimited
 * credit. */
static uint64_t add(uint64_t time, uint64_t more) {
    return more > UINT64_MAX - time ? UINT64_MAX : time + more;
}

/* The rest of a time in nanoseconds. It is capped at four months, so that products of it fit. */
static int64_t until(uint64_t paid, uint64_t now) {
    const uint64_t most = UINT64_C(1) << 53;
    uint64_t apart = paid > now ? paid - now : now - paid;
    int64_t bounded = (int64_t)(apart < most ? apart : most);
    return paid > now ? -bounded : bounded;
}

void bucket_bill(struct bucket *bucket, const struct rate *rate, uint64_t used_ns, uint64_t now) {
    /* Credit that accrued while it ran was not left unused. */
    uint64_t least = earliest(rate->window_ns + used_ns, now), time = time_for(rate, used_ns);
    uint64_t paid = atomic_load_explicit(bucket->paid_until, memory_order_relaxed);
    while (
        !atomic_compare_exchange_weak(bucket->paid_until, &paid, add(at_least(paid, least), time)))
        continue;
}

void bucket_forgive(struct bucket *bucket, uint64_t now) {
    uint64_t paid = atomic_load_explicit(bucket->paid_until, memory_order_relaxed);
    while (paid > now && !atomic_compare_exchange_weak(bucket->paid_until, &paid, now))
        continue;
}

int64_t bucket_left(const struct bucket *bucket, const struct rate *rate, uint64_t now) {
    uint64_t paid = atomic_load_explicit(bucket->paid_until, memory_order_relaxed);
    paid = at_least(paid, earliest(rate->window_ns, now));
    /* In parts of a microsecond, so that the product fits. */
    return until(paid, now) / 1000 * (int64_t)rate->share_ppm / 1000;
}

uint64_t bucket_next(const struct bucket *bucket, const struct rate *rate) {
    uint64_t paid = atomic_load_explicit(bucket->paid_until, memory_order_relaxed);
    return add(paid, rest_of_cycle(rate));
}

void bucket_change(struct bucket *bucket, const struct rate *before, const struct rate *after,
                   uint64_t now) {
    uint64_t had = before->share_ppm ? before->window_ns : 0;
    if (after->share_ppm && had < rest_of_cycle(after))
        had = rest_of_cycle(after);
    uint64_t least = earliest(had, now);
    uint64_t paid = atomic_load_explicit(bucket->paid_until, memory_order_relaxed);
    while (paid < least && !atomic_compare_exchange_weak(bucket->paid_until, &paid, least))
        continue;
}
