/* No thread is inside when the gate is closed: for programs whose memory is unmapped then.
 *
 * A call marks its thread, looks at the gate, goes on to the driver, and takes the mark back
 * (gate.h). There is no fence between mark and look, since every call would pay for it. Instead,
 * the thread that closes the gate makes all threads run one, by membarrier(2), and looks at the
 * marks after that. A thread that marks itself later sees that the gate is closed. Threads are
 * known from their first call until they end.
 *
 * Three kinds of calls pass a closed gate, or are inside, and still do no harm. A call that goes
 * into a capture runs later. A thread that is inside already does not wait at the same gate for a
 * second call (a profiler's callback makes such): the session waits for the thread itself. And a
 * thread that passed the gate of another context's GPU, or of several, counts as inside all of
 * them. */
#ifndef NVSHARE_INSIDE_H
#define NVSHARE_INSIDE_H

#include "gate.h"

/* Whether the kernel has what this needs: not before Linux 4.14, and not under every seccomp
 * filter. */
bool inside_is_possible(void);

/* Calls are marked from now on. To be called before any gate is used, where it is possible; once or
 * more often. */
void inside_enable(void);

/* Whether no thread is inside a call that has passed this gate. After the gate was closed, or since
 * gate_watch while no call has come, a true answer stays true. Never waits. */
bool inside_is_empty(const struct gate *gate);

/* The same for known threads that have marked themselves, without the fence that would show the
 * others. That is enough for calls that have passed by gate_step: they mark themselves under the
 * gate's lock. */
bool inside_has_marks(const struct gate *gate);

/* Where calls are not marked, a thread may have looked at the gate just before it closed, and be on
 * its way to the driver. inside_note_threads is called when the gate has closed. inside_have_left
 * tells whether each thread has slept since, or computed for longer than any launch takes. If so,
 * its call has reached the GPU. */
void inside_note_threads(const struct gate *gate);
bool inside_have_left(const struct gate *gate);

/* For code on a program's thread that needs the gate to stay open for a while. inside_enter waits
 * and returns as gate_enter. inside_try does not wait, and returns whether the gate was open.
 * inside_leave goes with either. */
int inside_enter(struct gate *gate);
bool inside_try(struct gate *gate);
static inline void inside_leave(void) {
    gate_leave();
}

/* To be called before a thread comes to a gate: from now on the thread is known and its marks are
 * seen. */
void inside_introduce(void);
static inline void inside_be_known(void) {
    if (gate_thread.standing == GATE_STRANGER)
        inside_introduce();
}

/* In a child after fork: the other threads do not exist, and this one is a stranger. */
void inside_forget(void);

#endif
