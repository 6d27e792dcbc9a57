/* The thread that moves memory between a GPU and the host, in bulk. There is one per device,
 * started when first needed. It carries out its last order, chunk by chunk; another order takes
 * effect after the chunks in flight. transfer.h does the work.
 *
 * The amount of free GPU memory is not used here, since it does not change when memory leaves: a
 * driver keeps the room for the next user. The daemon, which hears from all programs, tells how
 * much of the incoming memory has no room yet. */
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
    MOVER_FILL_AHEAD,  /* the same before a turn: as much as ordered, or as has room */
    MOVER_FILL_GENTLY, /* the same without a daemon: only into what is free now */
    MOVER_RETURN, /* without a daemon, while the gate waits: all of it, as long as that takes */
};

/* What has been moved since the last look, how long that took, and what is still to leave. Every
 * byte that has crossed the bus is told once. */
struct mover_progress {
    uint64_t out_bytes, out_ns;
    uint64_t in_bytes, in_ns;
    uint64_t displaced; /* bytes that others push out, see mover_displace */
    uint64_t left;      /* bytes that were ordered out and have not left yet */
};

struct mover;

/* Moves explicit memory, before the rest. */
typedef void mover_carry(struct mover *mover, enum mover_job job);

/* Gives back memory on the GPU that is not in use just now. Returns how much of it was counted as
 * used. */
typedef uint64_t mover_tidy_up(struct device *device);

/* Does a little of what makes later moves faster. Returns whether there is more to do. */
typedef bool mover_chore(struct mover *mover);

struct mover {
    struct device *device;
    mover_carry *carry;     /* or NULL */
    mover_tidy_up *tidy_up; /* or NULL */
    mover_chore *chore;     /* or NULL */
    pthread_mutex_t lock;   /* comes before the locks of contexts and ledgers */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread;
    bool is_stopping;
    bool is_untidy;
    enum mover_job job;
    uint64_t bytes;               /* of the job, still to be moved */
    uint64_t missing;             /* of the incoming memory, bytes that have no room yet */
    uint64_t leaving;             /* bytes in flight to the host */
    uint64_t leaving_there;       /* of these, bytes that count as resident until they arrive */
    uint64_t has_left, told_left; /* since the order; and of that, what the session was told */
    uint64_t most_step;           /* how much leaves before the session is told, at the most */
    bool has_touched;             /* the memory left on the GPU, for the present order */
    bool is_inside;               /* uses a context: chunks may be in flight */
    bool has_chores;              /* there is a chore to do while there is no job */
    bool does_chore;              /* this uses a context too, but the gate does not wait for it */
    _Atomic bool is_waiting;      /* for room */
    _Atomic bool is_quiet; /* behind the closed gate no thread is inside, nothing is in flight */
    unsigned bars;         /* how many callers want it to use no context */
    struct mover_progress progress; /* since it was last taken */
    _Atomic bool has_news;          /* enough has left to tell the session */
    _Atomic bool is_busy;           /* has a job, or chunks in flight */
};

void mover_init(struct mover *mover, struct device *device);

/* For the session. Another job replaces the present one; with MOVER_REST it stops. Returns 0, or a
 * negative errno if there is no thread to do it. */
int mover_order(struct mover *mover, enum mover_job job, uint64_t bytes);

/* Tidies up before anything else is moved. An order to move out does so by itself. */
void mover_tidy(struct mover *mover);

/* There is a chore to do ahead, while nothing moves. */
void mover_prepare(struct mover *mover);

/* Orders more out, if memory is moving out. */
void mover_order_more(struct mover *mover, uint64_t bytes);

/* Of all that MOVER_FILL brings in, or would bring in, so many bytes have no room yet. Holds until
 * set anew, also for a fill that is ordered later. */
void mover_set_missing(struct mover *mover, uint64_t missing);

/* Another program's fill pushes out so much of this program's memory, the earliest arrived first.
 * It counts as away from now on; nothing is moved here. Returns how much that is. */
uint64_t mover_displace(struct mover *mover, uint64_t bytes);

/* Bytes that were ordered out and have not left yet. */
uint64_t mover_left(struct mover *mover);

/* Takes what has been moved since the last call. Returns whether all is done. */
bool mover_take(struct mover *mover, struct mover_progress *progress);

/* Bytes that are away, including those ordered out and those being allocated. */
uint64_t mover_away(struct mover *mover);

/* Whether memory moves or is about to. May be called by any thread. */
static inline bool mover_is_busy(const struct mover *mover) {
    return atomic_load_explicit(&mover->is_busy, memory_order_acquire);
}

/* Whether enough has left since mover_take for the session to be woken. */
static inline bool mover_has_news(const struct mover *mover) {
    return atomic_load_explicit(&mover->has_news, memory_order_acquire);
}

/* The program has freed memory, and that may be what the mover waits to bring in. */
static inline bool mover_is_waiting(const struct mover *mover) {
    return atomic_load(&mover->is_waiting);
}
void mover_look_again(struct mover *mover);

/* Around calls that may destroy a context: in between the mover uses none. Waits for the chunks in
 * flight. The mover goes on afterwards with a remaining context. NULL is allowed. */
void mover_bar(struct mover *mover);
void mover_unbar(struct mover *mover);

/* The program ends. */
void mover_stop(struct mover *mover);

/* For transfer.c. Whether the job is still wanted, the same with the lock held, and progress
 * made. */
bool mover_goes_on(struct mover *mover, enum mover_job job);
bool mover_wants(const struct mover *mover, enum mover_job job);
void mover_note(struct mover *mover, const struct mover_progress *made);

/* Whether memory on the GPU is to be touched. Returns true once for every order. */
bool mover_has_to_touch(struct mover *mover, enum mover_job job);

/* How many bytes may move now, with the lock held. */
uint64_t mover_room(const struct mover *mover);

/* Waits while nothing may come in because there is no room. Returns whether there is. */
bool mover_wait_for_room(struct mover *mover, enum mover_job job);

/* The same for memory that comes as a whole, however little was ordered: how many bytes may come
 * now, with the lock held; and waits until so many may. */
uint64_t mover_room_for_all(const struct mover *mover);
void mover_wait_for_room_of(struct mover *mover, enum mover_job job, uint64_t bytes);

/* Waits until memory that was never used, and so comes by itself, has room as well. */
void mover_wait_for_the_rest(struct mover *mover, enum mover_job job);

#endif
