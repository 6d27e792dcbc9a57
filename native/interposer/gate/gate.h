/* The gate of one GPU: calls that would give it work pass, or wait here and nowhere else.
 *
 * The session opens and closes it. It opens by itself when another program hands its turn over. A
 * closed gate stops every thread at its next call. Threads that pass an open gate share nothing
 * except one flag, which they only read.
 *
 * A thread that looked before the gate closed can still slip through, with at most one call. That
 * does no harm to managed memory. It would crash a program whose memory is unmapped behind the
 * closed gate. There, calls are marked: each marks its thread as inside before it looks at the
 * gate, and takes the mark back when the driver's function has returned. The thread that closes the
 * gate waits until no thread is inside (inside.h). Whether calls are marked is decided once for the
 * whole process. If they are, `open` is never true, and a call that finds it false marks itself and
 * looks at `open_to_marked`. So processes that do not mark calls pay nothing for it.
 *
 * A closed gate may let single calls pass (gate_step). Each needs a ticket, which one of the
 * waiting threads takes. Such a call is marked in any program, and its thread is known, so that the
 * session sees when the call is over. */
#ifndef NVSHARE_GATE_H
#define NVSHARE_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "standby.h"

/* A thread that waits, and the call that it is about to make. */
struct gate_waiter {
    void *stream;     /* the call comes behind the work of this stream; NULL: of no stream */
    uint64_t context; /* the number of its context, for a handle that is no address */
    struct gate_waiter *next;
};

struct gate {
    /* What every call reads. Also false after gate_watch until a call comes, and while curious. */
    _Atomic bool open;
    _Atomic bool open_to_marked; /* the same, where calls are marked */
    bool passable;               /* the truth, under the lock */
    bool is_short;               /* memory is absent: it does not open by itself */
    bool refuses;                /* calls get an error instead of waiting */
    bool is_decided;             /* the session has decided something */
    bool used;                   /* a call has come since gate_watch */
    bool noticed;                /* the same since gate_glance */
    unsigned tickets;            /* calls that may pass although it is closed */
    _Atomic unsigned lent;       /* calls that have passed so, and wait at another gate */
    _Atomic bool curious;     /* every call comes by the slow path, so that it can be looked at */
    _Atomic unsigned copying; /* threads that are in a synchronous copy */
    unsigned waiting;
    struct gate_waiter *waiters;
    void (*knock)(void *); /* called when the first thread begins to wait */
    void *knock_argument;
    struct standby standby; /* opens it without the session */
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* Whether the thread that closes a gate sees the marks of a thread. */
enum gate_standing {
    GATE_STRANGER, /* not yet */
    GATE_KNOWN,
    GATE_STRAY, /* it never can be: it is counted instead, and always takes the slow path */
};

/* What a thread knows about its next call. Other threads read the atomic members. */
struct gate_thread {
    struct gate *_Atomic gate; /* of the GPU that its context is on, or gate_unknown */
    long budget;               /* calls until it takes the slow path */
    _Atomic long inside;       /* calls that it is in, nested ones included */
    long rest;       /* of these, after a stop that is only made to look at one call; 0: none */
    bool is_sampled; /* it is that call */
    bool is_stepped; /* it has passed a closed gate by a ticket; set wherever it may have waited */
    bool is_metered; /* the call is measured, see meter.h */
    uint32_t random; /* picks the call that is looked at */
    void *stream;    /* of the call that is about to wait, as in gate_waiter */
    uint64_t context;
    enum gate_standing standing;
    int id;                           /* the kernel's, of a thread that is known */
    uint64_t noted_ns;                /* inside_note_threads */
    struct gate_thread *next, **link; /* in the list of known threads */
};

/* In the static block, where it is two instructions away. Other models call a function. */
extern _Thread_local struct gate_thread gate_thread __attribute__((tls_model("initial-exec")));

/* Never open: the slow path has to find out which gate applies. */
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

/* Marks the thread as inside, before it looks at the gate. There is no fence here: the thread that
 * closes the gate makes all threads run one. Harmless where calls are not marked. */
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

/* The call is over. Does nothing for a call that was not marked, and costs nothing then. */
__attribute__((always_inline)) static inline void gate_leave(void) {
    if (__builtin_expect(gate_is_inside(), 0))
        gate_unmark();
}

/* The fast path of calls that leave nothing in flight. */
static inline bool gate_lets_pass(const struct gate *gate) {
    return __builtin_expect(atomic_load_explicit(&gate->open, memory_order_relaxed), 1);
}

static inline bool gate_is_curious(const struct gate *gate) {
    return __builtin_expect(atomic_load_explicit(&gate->curious, memory_order_relaxed), 0);
}

/* The fast path of nearly every call. */
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

/* Sets the gate that the thread's next calls look at. A thread whose marks are not seen must take
 * the slow path. A thread that is inside stays inside the gate that it has passed: if that was
 * another gate, it counts as inside all of them. */
static inline void gate_be_at(struct gate *gate) {
    bool is_seen = gate_thread.standing == GATE_KNOWN || !gate_calls_are_marked();
    bool is_inside_another = gate_is_inside() && gate_here() != gate;
    atomic_store_explicit(&gate_thread.gate, is_seen && !is_inside_another ? gate : &gate_unknown,
                          memory_order_relaxed);
}

/* A new gate is closed. `knock` is called with the gate's lock held. */
void gate_init(struct gate *gate, void (*knock)(void *), void *argument);

/* Waits until the gate may be passed. Returns 0, and the thread is inside until gate_leave, or
 * -EPERM if the gate refuses. A waiting thread is not inside. Sets is_stepped. */
int gate_enter(struct gate *gate);

/* The same without waiting. Returns false if the gate may not be passed now. */
bool gate_try(struct gate *gate);

/* Waits until it is known whether there is a daemon. Returns 0, or -EPERM if the gate refuses. */
int gate_await_decision(struct gate *gate);

/* Whether gate_enter would wait. */
bool gate_is_closed(struct gate *gate);

/* For the session. gate_open lets all waiting threads pass and returns true; it does nothing while
 * the gate is short. gate_refuse turns them away. */
bool gate_open(struct gate *gate);
void gate_close(struct gate *gate);
void gate_refuse(struct gate *gate);
unsigned gate_waiting(struct gate *gate);

/* Lets one waiting call pass, and stays closed. Does nothing if no call waits. Returns false, with
 * no effect, while the gate is short. */
bool gate_step(struct gate *gate);

/* Whether a call that may pass by gate_step has not passed yet. A call that has passed is
 * inside. */
bool gate_is_stepping(struct gate *gate);

/* For a call that must pass other gates too before it may begin, and is not inside meanwhile. */
static inline void gate_lend(struct gate *gate) {
    atomic_fetch_add(&gate->lent, 1);
}
static inline void gate_return(struct gate *gate) {
    atomic_fetch_sub(&gate->lent, 1);
}

/* Lists waiting threads, `most` at the most. They wait until the gate opens. Returns how many. */
unsigned gate_list_waiters(struct gate *gate, struct gate_waiter *list, unsigned most);

/* Makes the gate open when the descriptor is readable, at once and without the session, which
 * learns of it by gate_has_begun. Takes the descriptor, or returns a negative errno and leaves it
 * to the caller. */
int gate_stand_by(struct gate *gate, int descriptor);
bool gate_has_begun(struct gate *gate);

/* Takes the descriptor back. Returns whether the gate has opened by it. */
bool gate_withdraw(struct gate *gate);

/* Takes it back, unless the gate has opened by it: then returns false and changes nothing. */
bool gate_disarm(struct gate *gate);

/* Memory is absent, or is going to be: a closed gate does not open until gate_is_whole. A turn that
 * is handed over does not open it either. The session is knocked instead; it sees by gate_has_begun
 * that the turn has come, and brings the memory first. Returns false, with no effect, if the gate
 * is open. */
bool gate_falls_short(struct gate *gate);
void gate_is_whole(struct gate *gate);

/* gate_watch makes the next call be noticed; the others tell whether there was one since, and close
 * the gate if not. */
void gate_watch(struct gate *gate);
bool gate_was_used(struct gate *gate);
bool gate_close_if_unused(struct gate *gate);

/* Whether a call has come since the last glance. Does not disturb gate_watch. */
bool gate_glance(struct gate *gate);

/* Makes every call take the slow path, while `curious` is true. */
void gate_set_curious(struct gate *gate, bool curious);

/* In a child after fork: gives up the parent's descriptors. */
void gate_abandon(struct gate *gate);

#endif
