#include "standby.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "descriptor.h"

void standby_init(struct standby *standby) {
    *standby = (struct standby){.descriptor = -1};
    bell_init(&standby->bell);
}

bool standby_brings_turn(int descriptor) {
    char one;
    return descriptor_is_kept(descriptor) &&
           recv(descriptor, &one, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

/* A watcher may be about to poll the descriptor that is closed here, and the program may have
 * reused its number by then. The watcher is called back all the same, and sees that there was a
 * change. */
static void replace(struct standby *standby, int descriptor) {
    int before = standby->descriptor;
    standby->descriptor = descriptor;
    standby->has_come = false;
    standby->changes++;
    descriptor_close(before);
    standby_call_back(standby);
}

int standby_set(struct standby *standby, int descriptor) {
    int result = standby->is_watched ? 0 : bell_need(&standby->bell);
    if (result == 0)
        replace(standby, descriptor);
    return result;
}

bool standby_withdraw(struct standby *standby) {
    bool had_come = standby->has_come;
    replace(standby, -1);
    return had_come;
}

bool standby_needs_watcher(const struct standby *standby) {
    return standby->descriptor >= 0 && !standby->is_watched && !standby->has_come;
}

/* Whether the program has closed descriptors that it did not open. The turn comes through the
 * daemon then. */
static bool is_lost(const struct standby *standby) {
    return !descriptor_is_kept(standby->descriptor) || !bell_is_there(&standby->bell);
}

static void lose(struct standby *standby) {
    descriptor_close(standby->descriptor);
    bell_close(&standby->bell);
    standby->descriptor = -1;
}

bool standby_watch(struct standby *standby, pthread_mutex_t *lock) {
    enum { TURN, BELL };
    if (is_lost(standby)) {
        lose(standby);
        return false;
    }
    struct pollfd set[] = {[TURN] = {.fd = standby->descriptor, .events = POLLIN},
                           [BELL] = {.fd = standby->bell.heard, .events = POLLIN}};
    unsigned changes = standby->changes;
    standby->is_watched = true;
    pthread_mutex_unlock(lock);
    int ready = descriptors_await(set, 2, NULL);
    pthread_mutex_lock(lock);
    standby->is_watched = false;
    if (ready > 0 && set[BELL].revents)
        bell_silence(&standby->bell);
    if (standby->changes == changes) {
        bool is_ready = ready > 0 && set[TURN].revents;
        standby->has_come = is_ready && standby_brings_turn(standby->descriptor);
        bool is_in_vain = ready < 0 && ready != -EINTR;
        if (!standby->has_come && (is_in_vain || is_lost(standby)))
            lose(standby);
        else if (is_ready && !standby->has_come)
            replace(standby, -1);
    }
    return standby->has_come;
}

void standby_call_back(const struct standby *standby) {
    if (standby->is_watched)
        bell_ring(&standby->bell);
}

void standby_forget(struct standby *standby) {
    descriptor_close(standby->descriptor);
    bell_close(&standby->bell);
}
