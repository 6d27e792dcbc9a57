/* A program's share of a GPU's time: the real time of its calls is billed. A thread that makes a
 * call when everything is used up waits here, before it gets to the gate. */
#ifndef NVSHARE_SHARE_H
#define NVSHARE_SHARE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bucket.h"
#include "lookup/driver.h"
#include "usage.h"

struct device;

struct share {
    _Atomic bool is_set; /* what every call on the slow path reads */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct rate rate;
    uint32_t own_ppm; /* of the measured time; the rest belongs to others on the GPU */
    uint32_t clock;   /* of the GPU's events, in thousandths of ours */
    bool may_burst;
    _Atomic uint64_t own_until; /* for the bucket of a program that has no group yet */
    struct bucket bucket;
    struct usage throttled;  /* when threads wait here */
    _Atomic uint64_t gpu_ns; /* billed in total */
    _Atomic bool is_wanted;  /* another program waits for the GPU */
    void (*knock)(void *);   /* called when a thread begins to wait */
    void *knock_argument;
};

struct share_order {
    uint32_t share_ppm; /* 0: no share */
    uint64_t window_ns;
    uint32_t own_ppm;
    uint32_t clock;
    bool may_burst;
};

void share_init(struct share *share, void (*knock)(void *), void *argument);

/* For the session. */
void share_change(struct share *share, const struct share_order *order);

/* The share belongs to a group from now on, whose bucket is in the page that this points into. What
 * the program has used so far stays billed. */
void share_join(struct share *share, _Atomic uint64_t *group_until);

/* Whether another program waits for the GPU. */
void share_is_wanted(struct share *share, bool is_wanted);

/* Whether threads wait because the share is used up. */
bool share_is_used_up(struct share *share);

static inline bool share_is_set(const struct share *share) {
    return atomic_load_explicit(&share->is_set, memory_order_relaxed);
}

/* Bills the time of the thread's calls, and waits until there is some left. */
void share_wait(struct device *device);

#endif
