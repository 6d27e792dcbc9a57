/* The gate of one GPU: calls that would give it work pass, or wait here and nowhere else.
 *
 * The session opens and closes it, and it opens by itself when another program hands its turn on. A
 * closed gate holds every thread at its next call; at most one call per thread, which had looked before
 * the gate closed, still slips through. Nothing on the way through an open gate is shared between
 * threads except for one flag that is only read. */
#ifndef NVSHARE_GATE_H
#define NVSHARE_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "standby.h"

struct gate {
    _Atomic bool
        open; /* what every call reads; false also while somebody watches for calls, or is curious */
    bool passable;              /* the truth, under the lock */
    bool refuses;               /* calls get an error instead of waiting */
    bool is_settled;            /* the session has decided something */
    bool used;                  /* a call has come since gate_watch */
    _Atomic bool curious;       /* every call comes by the slow path, so that it can be looked at */
    _Atomic bool meters_copies; /* those that return when they are done as well: see copying.h */
    _Atomic unsigned copying;   /* threads that are in one */
    unsigned waiting;
    void (*knock)(void *); /* called when the first thread begins to wait */
    void *knock_argument;
    struct standby standby; /* what opens it without the session */
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* What a thread knows about its next call. */
struct gate_thread {
    struct gate *gate; /* of the GPU that its context is on, or gate_unknown */
    long budget;       /* calls until it comes by the slow path */
    long rest;         /* of these, after a stop that is only made to look at one call; 0: none */
    bool is_sampled;   /* it is that call */
    bool is_metered;   /* the call is measured, see meter.h */
    uint32_t random;   /* for which call is looked at */
};

/* In the static block, where it is two instructions away: other models call a function. */
extern _Thread_local struct gate_thread gate_thread __attribute__((tls_model("initial-exec")));

/* Never open: the slow path has to find out which gate it is. */
extern struct gate gate_unknown;

/* The way of calls that leave nothing in flight. */
static inline bool gate_lets_pass(void) {
    return __builtin_expect(atomic_load_explicit(&gate_thread.gate->open, memory_order_relaxed), 1);
}

static inline bool gate_meters_copies(const struct gate *gate) {
    return __builtin_expect(atomic_load_explicit(&gate->meters_copies, memory_order_relaxed), 0);
}

static inline bool gate_is_curious(const struct gate *gate) {
    return __builtin_expect(atomic_load_explicit(&gate->curious, memory_order_relaxed), 0);
}

/* The way of nearly every call. */
static inline bool gate_is_open(void) {
    if (!gate_lets_pass())
        return false;
    return __builtin_expect(--gate_thread.budget >= 0, 1);
}

/* The thread's context is another one now, perhaps on another GPU. */
static inline void gate_forget(void) {
    gate_thread.gate = &gate_unknown;
}

/* A new gate is closed. `knock` is called with the gate's lock held. */
void gate_init(struct gate *gate, void (*knock)(void *), void *argument);

/* Waits until the gate may be passed. Returns 0, or -EPERM if it refuses. */
int gate_enter(struct gate *gate);

/* Waits until it is known whether there is a daemon. Returns 0, or -EPERM if the gate refuses. */
int gate_settle(struct gate *gate);

/* Whether gate_enter would wait. */
bool gate_is_closed(struct gate *gate);

/* For the session. gate_open lets everybody pass who waits; gate_refuse turns them away. */
void gate_open(struct gate *gate);
void gate_close(struct gate *gate);
void gate_refuse(struct gate *gate);
unsigned gate_waiting(struct gate *gate);

/* Opens when the eventfd is readable, at once and without the session, which finds out by gate_has_begun.
 * Takes the descriptor, or fails with a negative errno and leaves it to the caller. */
int gate_stand_by(struct gate *gate, int descriptor);
bool gate_has_begun(struct gate *gate);

/* Takes it back. Returns whether the gate has opened by it. */
bool gate_withdraw(struct gate *gate);

/* Takes it back, unless the gate has opened by it: then it returns false, and nothing has changed. */
bool gate_disarm(struct gate *gate);

/* Makes the next call be noticed, and closes the gate if there has been none since. */
void gate_watch(struct gate *gate);
bool gate_was_used(struct gate *gate);
bool gate_close_if_unused(struct gate *gate);

/* Makes every call come by the slow path, until it is not wanted any more. */
void gate_set_curious(struct gate *gate, bool curious);

/* In a child after fork: gives up the parent's descriptors. */
void gate_abandon(struct gate *gate);

#endif
