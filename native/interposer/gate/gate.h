/* The gate of one GPU: calls that would give it work pass, or wait here and nowhere else.
 *
 * The session opens and closes it, and it opens by itself when another program hands its turn over. A
 * closed gate holds every thread at its next call. Nothing on the way through an open gate is shared between
 * threads except for one flag that is only read.
 *
 * At most one call per thread, which had looked before the gate closed, still slips through. That does no harm to
 * managed memory. For a program whose memory is unmapped behind the closed gate it would be the end; there,
 * calls are marked: each says that its thread is inside before it looks at the gate, and takes that back when the
 * driver's function has returned. Who closes the gate waits until nobody is inside (inside.h). Whether calls
 * are marked is decided once for the whole process. If so, `open` is never true, and a call that
 * finds it false marks itself and looks at `open_to_marked`: so those that are not marked pay nothing for it.
 *
 * A closed gate may let single calls pass (gate_step): each by a ticket, which one of the threads that wait takes. Such a
 * call is marked in any program, and its thread is known, so that whoever has let it pass sees when it is over. */
#ifndef NVSHARE_GATE_H
#define NVSHARE_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "standby.h"

/* A thread that waits, and the call that it waits with. */
struct gate_waiter {
    void *stream;     /* whose work the call comes behind; NULL: no stream's */
    uint64_t context; /* the number of its context, for what is no address */
    struct gate_waiter *next;
};

struct gate {
    _Atomic bool
        open; /* what every call reads; false also while somebody watches for calls, or is curious */
    _Atomic bool open_to_marked; /* the same, where calls are marked */
    bool passable;               /* the truth, under the lock */
    bool is_short;               /* memory is absent: it does not open by itself */
    bool refuses;                /* calls get an error instead of waiting */
    bool is_decided;             /* the session has decided something */
    bool used;                   /* a call has come since gate_watch */
    bool noticed;                /* the same since gate_glance */
    unsigned tickets;            /* calls that may pass although it is closed */
    _Atomic unsigned lent;       /* of those that have, who wait at another gate as well */
    _Atomic bool curious;       /* every call comes by the slow path, so that it can be looked at */
    _Atomic bool meters_copies; /* synchronous ones as well: see copying.h */
    _Atomic unsigned copying;   /* threads that are in one */
    unsigned waiting;
    struct gate_waiter *waiters;
    void (*knock)(void *); /* called when the first thread begins to wait */
    void *knock_argument;
    struct standby standby; /* what opens it without the session */
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* Whether those who close a gate see the marks of a thread. */
enum gate_standing {
    GATE_STRANGER, /* not yet */
    GATE_KNOWN,
    GATE_STRAY, /* it cannot be: it is counted instead, and always comes by the slow path */
};

/* What a thread knows about its next call. What is atomic is read by other threads. */
struct gate_thread {
    struct gate *_Atomic gate; /* of the GPU that its context is on, or gate_unknown */
    long budget;               /* calls until it comes by the slow path */
    _Atomic long inside;       /* calls that it is in, one in the other */
    long rest;       /* of these, after a stop that is only made to look at one call; 0: none */
    bool is_sampled; /* it is that call */
    bool is_stepped; /* it has passed a closed gate by a ticket; set wherever it may have waited */
    bool is_metered; /* the call is measured, see meter.h */
    uint32_t random; /* for which call is looked at */
    void *stream;    /* of the call that is about to wait, as in gate_waiter */
    uint64_t context;
    enum gate_standing standing;
    int id;                           /* the kernel's, of a thread that is known */
    uint64_t noted_ns;                /* inside_note_threads */
    struct gate_thread *next, **link; /* in the list of those that are known */
};

/* In the static block, where it is two instructions away: other models call a function. */
extern _Thread_local struct gate_thread gate_thread __attribute__((tls_model("initial-exec")));

/* Never open: the slow path has to find out which gate it is. */
extern struct gate gate_unknown;

/* Whether calls are marked in this process. Set by inside_enable, before any gate is used. */
extern _Atomic bool gate_marks_calls;

/* How many calls of strays are inside. */
extern _Atomic unsigned gate_strays;

static inline bool gate_calls_are_marked(void) {
    return __builtin_expect(atomic_load_explicit(&gate_marks_calls, memory_order_relaxed), 0);
}

static inline struct gate *gate_here(void) {
    return atomic_load_explicit(&gate_thread.gate, memory_order_relaxed);
}

static inline bool gate_is_inside(void) {
    return atomic_load_explicit(&gate_thread.inside, memory_order_relaxed) > 0;
}

/* Says that the thread is inside, before it looks whether it may be. No fence: the one who closes the gate
 * has it made. Harmless where calls are not marked. */
static inline void gate_mark(void) {
    long inside = atomic_load_explicit(&gate_thread.inside, memory_order_relaxed);
    atomic_store_explicit(&gate_thread.inside, inside + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(gate_thread.standing == GATE_STRAY, 0))
        atomic_fetch_add(&gate_strays, 1);
}

static inline void gate_unmark(void) {
    long inside = atomic_load_explicit(&gate_thread.inside, memory_order_relaxed);
    atomic_store_explicit(&gate_thread.inside, inside - 1, memory_order_release);
    if (__builtin_expect(gate_thread.standing == GATE_STRAY, 0))
        atomic_fetch_sub(&gate_strays, 1);
}

/* The call is over. Nothing, if it was not marked; which is to cost nothing either. */
__attribute__((always_inline)) static inline void gate_leave(void) {
    if (__builtin_expect(gate_is_inside(), 0))
        gate_unmark();
}

/* The way of calls that leave nothing in flight. */
static inline bool gate_lets_pass(const struct gate *gate) {
    return __builtin_expect(atomic_load_explicit(&gate->open, memory_order_relaxed), 1);
}

static inline bool gate_meters_copies(const struct gate *gate) {
    return __builtin_expect(atomic_load_explicit(&gate->meters_copies, memory_order_relaxed), 0);
}

static inline bool gate_is_curious(const struct gate *gate) {
    return __builtin_expect(atomic_load_explicit(&gate->curious, memory_order_relaxed), 0);
}

/* The way of nearly every call. */
static inline bool gate_is_open(void) {
    if (!gate_lets_pass(gate_here()))
        return false;
    return __builtin_expect(--gate_thread.budget >= 0, 1);
}

/* The same where calls are marked. The thread is inside if it returns true. */
static inline bool gate_is_open_to_marked(void) {
    struct gate *gate = gate_here();
    gate_mark();
    if (__builtin_expect(atomic_load_explicit(&gate->open_to_marked, memory_order_relaxed), 1) &&
        __builtin_expect(--gate_thread.budget >= 0, 1))
        return true;
    gate_unmark();
    return false;
}

/* The thread's context is another one now, perhaps on another GPU. */
static inline void gate_forget(void) {
    atomic_store_explicit(&gate_thread.gate, &gate_unknown, memory_order_relaxed);
}

/* The gate that the thread's next calls look at. Whose marks nobody sees must not pass unseen. And one that is
 * inside stays inside of what it had passed: if that was another gate, it counts as inside of all of them. */
static inline void gate_be_at(struct gate *gate) {
    bool is_seen = gate_thread.standing == GATE_KNOWN || !gate_calls_are_marked();
    bool is_inside_another = gate_is_inside() && gate_here() != gate;
    atomic_store_explicit(&gate_thread.gate, is_seen && !is_inside_another ? gate : &gate_unknown,
                          memory_order_relaxed);
}

/* A new gate is closed. `knock` is called with the gate's lock held. */
void gate_init(struct gate *gate, void (*knock)(void *), void *argument);

/* Waits until the gate may be passed. Returns 0, and the thread is inside until gate_leave; or -EPERM if it
 * refuses. A thread that waits is not inside. Sets is_stepped. */
int gate_enter(struct gate *gate);

/* The same if it may be passed now. Returns false otherwise. */
bool gate_try(struct gate *gate);

/* Waits until it is known whether there is a daemon. Returns 0, or -EPERM if the gate refuses. */
int gate_await_decision(struct gate *gate);

/* Whether gate_enter would wait. */
bool gate_is_closed(struct gate *gate);

/* For the session. gate_open lets everybody pass who waits, and returns true; it does nothing while the gate is short.
 * gate_refuse turns them away. */
bool gate_open(struct gate *gate);
void gate_close(struct gate *gate);
void gate_refuse(struct gate *gate);
unsigned gate_waiting(struct gate *gate);

/* Lets one call of those that wait pass, and stays closed. Nothing happens if nobody waits. Returns false, and nothing has
 * happened, while the gate is short. */
bool gate_step(struct gate *gate);

/* Whether a call that may pass by gate_step has not yet. One that has is inside. */
bool gate_is_stepping(struct gate *gate);

/* For a call that has to pass other gates as well before it may begin, and is not inside meanwhile. */
static inline void gate_lend(struct gate *gate) {
    atomic_fetch_add(&gate->lent, 1);
}
static inline void gate_return(struct gate *gate) {
    atomic_fetch_sub(&gate->lent, 1);
}

/* Those who wait, or as many of them as there is place for. They do so until the gate opens. Returns how many. */
unsigned gate_list_waiters(struct gate *gate, struct gate_waiter *list, unsigned most);

/* Opens when the descriptor is readable, at once and without the session, which finds out by gate_has_begun.
 * Takes the descriptor, or fails with a negative errno and leaves it to the caller. */
int gate_stand_by(struct gate *gate, int descriptor);
bool gate_has_begun(struct gate *gate);

/* Takes it back. Returns whether the gate has opened by it. */
bool gate_withdraw(struct gate *gate);

/* Takes it back, unless the gate has opened by it: then it returns false, and nothing has changed. */
bool gate_disarm(struct gate *gate);

/* Memory is absent, or is going to be: a closed gate does not open until gate_is_whole. A turn that is handed over does
 * not open it either: the session is knocked, which sees by gate_has_begun that it has come, and brings the memory first.
 * Returns false if the gate is open, and then it has no effect. */
bool gate_falls_short(struct gate *gate);
void gate_is_whole(struct gate *gate);

/* Makes the next call be noticed, and closes the gate if there has been none since. */
void gate_watch(struct gate *gate);
bool gate_was_used(struct gate *gate);
bool gate_close_if_unused(struct gate *gate);

/* Whether a call has come since the last time. Does not disturb those who watch. */
bool gate_glance(struct gate *gate);

/* Makes every call come by the slow path, until it is not wanted any more. */
void gate_set_curious(struct gate *gate, bool curious);

/* In a child after fork: gives up the parent's descriptors. */
void gate_abandon(struct gate *gate);

#endif
