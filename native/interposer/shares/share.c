#include "share.h"

#include <time.h>

#include "meter.h"
#include "process/clock.h"
#include "process/devices.h"

enum { PPM = 1000000 };

void share_init(struct share *share, void (*knock)(void *), void *argument) {
    pthread_condattr_t attributes;
    *share =
        (struct share){.own_ppm = PPM, .clock = 1000, .knock = knock, .knock_argument = argument};
    share->bucket = (struct bucket){&share->own_until};
    pthread_mutex_init(&share->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&share->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    usage_init(&share->throttled);
}

void share_change(struct share *share, const struct share_order *order) {
    struct rate rate = {order->share_ppm, order->window_ns};
    pthread_mutex_lock(&share->lock);
    bucket_change(&share->bucket, &share->rate, &rate, clock_now());
    share->rate = rate;
    share->own_ppm = order->own_ppm && order->own_ppm < PPM ? order->own_ppm : PPM;
    share->clock = order->clock ? order->clock : 1000;
    share->may_burst = order->may_burst;
    atomic_store(&share->is_set, rate.share_ppm != 0);
    pthread_mutex_unlock(&share->lock);
    pthread_cond_broadcast(&share->changed);
}

void share_join(struct share *share, _Atomic uint64_t *group_until) {
    pthread_mutex_lock(&share->lock);
    uint64_t own = atomic_load(share->bucket.paid_until), until = atomic_load(group_until);
    while (own > until && !atomic_compare_exchange_weak(group_until, &until, own))
        continue;
    share->bucket = (struct bucket){group_until};
    pthread_mutex_unlock(&share->lock);
}

void share_is_wanted(struct share *share, bool is_wanted) {
    if (atomic_exchange(&share->is_wanted, is_wanted) != is_wanted && share_is_set(share))
        pthread_cond_broadcast(&share->changed);
}

bool share_is_used_up(struct share *share) {
    return usage_is_waiting(&share->throttled);
}

/* With the lock held, as everything below that is static. */
static uint64_t in_our_time(const struct share *share, uint64_t gpu_ns) {
    return share->clock == 1000 ? gpu_ns : gpu_ns / share->clock * 1000;
}

static uint64_t own_part(const struct share *share, uint64_t gpu_ns) {
    uint64_t ns = in_our_time(share, gpu_ns);
    return ns / PPM * share->own_ppm + ns % PPM * share->own_ppm / PPM;
}

static void bill(struct device *device, uint64_t used_ns, uint64_t now) {
    struct share *share = &device->share;
    if (!used_ns || !share->rate.share_ppm)
        return;
    uint64_t own = own_part(share, used_ns);
    usage_measured(&device->usage, in_our_time(share, used_ns));
    atomic_fetch_add(&share->gpu_ns, own);
    bucket_bill(&share->bucket, &share->rate, own, now);
}

static bool is_free(const struct share *share) {
    return share->may_burst && !atomic_load(&share->is_wanted);
}

/* Whether enough is left beyond the work in flight. */
static bool is_enough_left(struct share *share, uint64_t now) {
    if (!share->rate.share_ppm)
        return true;
    if (is_free(share)) {
        bucket_forgive(&share->bucket, now);
        return true;
    }
    uint64_t pending = own_part(share, meter_pending());
    return bucket_left(&share->bucket, &share->rate, now) >= (int64_t)pending;
}

/* A launch is not a cancellation point for the program's threads. */
static void pause_until(struct share *share, uint64_t moment) {
    struct timespec until = {(time_t)(moment / 1000000000), (long)(moment % 1000000000)};
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_cond_timedwait(&share->changed, &share->lock, &until);
    pthread_setcancelstate(before, &before);
}

/* Nothing of this thread is in flight, so all of it is billed. Others may be billed meanwhile. */
static void wait_for_time(struct share *share) {
    usage_wait_begins(&share->throttled);
    share->knock(share->knock_argument);
    uint64_t now = clock_now(), next = bucket_next(&share->bucket, &share->rate);
    while (share->rate.share_ppm && now < next && !is_free(share)) {
        pause_until(share, next);
        now = clock_now();
        next = bucket_next(&share->bucket, &share->rate);
    }
    usage_wait_ends(&share->throttled);
}

void share_wait(struct device *device) {
    struct share *share = &device->share;
    uint64_t used = meter_collect(device);
    pthread_mutex_lock(&share->lock);
    bill(device, used, clock_now());
    while (!is_enough_left(share, clock_now())) {
        pthread_mutex_unlock(&share->lock);
        bool was_in_flight = meter_await();
        used = meter_collect(device);
        pthread_mutex_lock(&share->lock);
        bill(device, used, clock_now());
        if (!was_in_flight)
            wait_for_time(share);
    }
    pthread_mutex_unlock(&share->lock);
}
