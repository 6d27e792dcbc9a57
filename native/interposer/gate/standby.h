/* The socket by which another program hands its turn over, watched by a thread that waits at the
 * gate.
 *
 * If the session's thread watched it and then woke that thread, the GPU would stand still for two
 * wake-ups instead of one. Only one thread is the watcher; the others wait for it as they wait for
 * the session.
 *
 * Part of a gate: everything here is called with the gate's lock held. */
#ifndef NVSHARE_STANDBY_H
#define NVSHARE_STANDBY_H

#include <pthread.h>
#include <stdbool.h>

#include "bell.h"

struct standby {
    int descriptor;   /* -1: none */
    struct bell bell; /* calls the watcher back */
    unsigned changes;
    bool is_watched;
    bool has_come; /* the turn was handed over */
};

void standby_init(struct standby *standby);

/* Whether a turn has come by the ready socket. It is also ready if the other end is closed. */
bool standby_brings_turn(int descriptor);

/* Takes the descriptor, which is kept (descriptor.h), in place of an earlier one. Fails with a negative errno, and takes nothing,
 * if there is no descriptor left for the bell. */
int standby_set(struct standby *standby, int descriptor);

/* Stops watching. Returns whether the turn had come before. */
bool standby_withdraw(struct standby *standby);

/* Whether there is a socket to watch, and no watcher. */
bool standby_needs_watcher(const struct standby *standby);

/* Watches, with the lock released. Returns true when the turn has come, and false when the watcher
 * was called back or woke for no reason. Leaves errno alone. */
bool standby_watch(struct standby *standby, pthread_mutex_t *lock);

/* Something else that the watcher waits for has changed. */
void standby_call_back(const struct standby *standby);

/* In a child after fork, where there is no watcher and any thread may have held the lock. */
void standby_forget(struct standby *standby);

#endif
