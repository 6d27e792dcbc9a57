/* The socket by which another program hands its turn over, watched by a thread that waits at the gate.
 *
 * The session's thread could watch it, and then wake that thread: a GPU stands still for two wake-ups
 * instead of one. One thread at a time is the watcher; others wait for it as they wait for the session.
 *
 * Part of a gate: everything here is called with the gate's lock held. */
#ifndef NVSHARE_STANDBY_H
#define NVSHARE_STANDBY_H

#include <pthread.h>
#include <stdbool.h>

struct standby {
    int descriptor; /* -1: none */
    int bell;       /* an eventfd that calls the watcher back; -1: nobody has watched yet */
    unsigned changes;
    bool is_watched;
    bool has_come; /* the turn was handed over */
};

void standby_init(struct standby *standby);

/* Whether a turn has come by the socket, which is ready: it is, too, if nobody has the other end any more. */
bool standby_brings_turn(int descriptor);

/* Takes the descriptor, in place of an earlier one. Fails with a negative errno, and takes nothing, if
 * there is no descriptor left for the bell. */
int standby_set(struct standby *standby, int descriptor);

/* Nothing is to be watched any more. Returns whether the turn has come before. */
bool standby_withdraw(struct standby *standby);

/* Whether there is something to watch, and nobody does. */
bool standby_needs_watcher(const struct standby *standby);

/* Watches, with the lock released. Returns true when the turn has come; false when the watcher was called
 * back, or for no reason. Leaves errno alone. */
bool standby_watch(struct standby *standby, pthread_mutex_t *lock);

/* Something else has changed that the watcher waits for as well. */
void standby_call_back(const struct standby *standby);

/* In a child after fork, where there is no watcher and the lock may be anybody's. */
void standby_forget(struct standby *standby);

#endif
