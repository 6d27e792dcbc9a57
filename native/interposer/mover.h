/* The thread that moves memory between a GPU and the host, in bulk. There is one per device, from the first
 * need on. It does what it was ordered last, chunk by chunk; another order takes effect after the chunks
 * in flight. How it is done is in haul.h. */
#ifndef NVSHARE_MOVER_H
#define NVSHARE_MOVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct device;

enum mover_job {
    MOVER_REST,
    MOVER_OUT,         /* to the host, the coldest first */
    MOVER_FILL,        /* to the GPU, the hottest first; waits until others have made room */
    MOVER_FILL_GENTLY, /* the same, as far as there is room now */
};

/* What has been moved since the last look, and how long that took; and what is still to leave. */
struct mover_progress {
    uint64_t out_bytes, out_ns;
    uint64_t in_bytes, in_ns;
    uint64_t left; /* bytes that were ordered out and have not left, by now */
};

struct mover {
    struct device *device;
    pthread_mutex_t lock; /* comes before the locks of contexts and ledgers */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread;
    bool is_stopping;
    enum mover_job job;
    uint64_t bytes;                 /* of the job that are still to be moved */
    uint64_t missing;               /* of what is to come in, bytes that have no room yet */
    uint64_t since_news;            /* bytes that have left since the session was told */
    bool is_inside;                 /* uses a context: chunks may be in flight */
    unsigned bars;                  /* how many want it outside */
    struct mover_progress progress; /* since it was last taken */
    _Atomic bool has_news;          /* enough has left to tell of */
    _Atomic bool is_busy;           /* has a job, or chunks in flight */
};

void mover_init(struct mover *mover, struct device *device);

/* For the session. Another job replaces the present one; with MOVER_REST it stops. Returns 0, or a
 * negative errno if there is no thread to do it. */
int mover_order(struct mover *mover, enum mover_job job, uint64_t bytes);

/* More of what leaves, if anything does. */
void mover_order_more(struct mover *mover, uint64_t bytes);

/* Of all that MOVER_FILL is to bring in, so many bytes have no room yet. It is said before the fill is ordered,
 * and again whenever it changes. */
void mover_set_missing(struct mover *mover, uint64_t missing);

/* Another program's fill pushes so much of this one's memory out. Nothing is to be done about it: it counts as
 * away from now on. Returns how much that is. */
uint64_t mover_displace(struct mover *mover, uint64_t bytes);

/* What has been moved since the last call. Returns whether all is done. */
bool mover_take(struct mover *mover, struct mover_progress *progress);

/* What is away. What has been ordered to leave counts, and what is being allocated behind a closed gate. */
uint64_t mover_away(struct mover *mover);

/* Whether everything is where it is to be, and stays there. May be asked by any thread. */
static inline bool mover_is_busy(const struct mover *mover) {
    return atomic_load_explicit(&mover->is_busy, memory_order_acquire);
}

/* Whether a good part of what leaves has left since mover_take: the session was woken for that. */
static inline bool mover_has_news(const struct mover *mover) {
    return atomic_load_explicit(&mover->has_news, memory_order_acquire);
}

/* Around calls that may destroy a context: in between the mover uses none. It waits for the chunks in
 * flight, and goes on afterwards with a context that is left. NULL is allowed. */
void mover_bar(struct mover *mover);
void mover_unbar(struct mover *mover);

/* The program ends. */
void mover_stop(struct mover *mover);

/* For haul.c. Whether the job is still wanted, the same with the lock held; a pause that ends early if it is
 * not; and progress made. */
bool mover_goes_on(struct mover *mover, enum mover_job job);
bool mover_wants(const struct mover *mover, enum mover_job job);
void mover_pause(struct mover *mover, uint64_t ns);
void mover_note(struct mover *mover, const struct mover_progress *made);

#endif
