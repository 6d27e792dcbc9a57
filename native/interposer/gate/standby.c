#include "standby.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptor.h"

void standby_init(struct standby *standby) {
    *standby = (struct standby){.descriptor = -1, .bell = -1};
}

bool standby_brings_turn(int descriptor) {
    char one;
    return recv(descriptor, &one, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

static int need_bell(struct standby *standby) {
    if (standby->bell >= 0)
        return 0;
    int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (bell < 0)
        return -errno;
    standby->bell = descriptor_move_away(bell);
    return 0;
}

/* A watcher may be about to poll the descriptor that is closed here, and the program may have
 * reused its number by then. The watcher is called back all the same, and sees that there was a
 * change. */
static void replace(struct standby *standby, int descriptor) {
    int before = standby->descriptor;
    standby->descriptor = descriptor;
    standby->has_come = false;
    standby->changes++;
    if (before >= 0)
        close(before);
    standby_call_back(standby);
}

int standby_set(struct standby *standby, int descriptor) {
    int result = need_bell(standby);
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

static void silence(const struct standby *standby) {
    uint64_t rings;
    ssize_t count = read(standby->bell, &rings, sizeof rings);
    (void)count; /* a later ring calls the next watcher back for nothing */
}

/* The program has closed descriptors that it did not open: these numbers are not ours any more. The
 * turn comes through the daemon then. */
static void lose(struct standby *standby) {
    standby->descriptor = standby->bell = -1;
}

bool standby_watch(struct standby *standby, pthread_mutex_t *lock) {
    enum { TURN, BELL };
    struct pollfd set[] = {[TURN] = {.fd = standby->descriptor, .events = POLLIN},
                           [BELL] = {.fd = standby->bell, .events = POLLIN}};
    unsigned changes = standby->changes;
    int error = errno;
    standby->is_watched = true;
    pthread_mutex_unlock(lock);
    int ready = poll(set, 2, -1);
    bool is_lost = ready < 0 ? errno != EINTR : (set[TURN].revents | set[BELL].revents) & POLLNVAL;
    pthread_mutex_lock(lock);
    standby->is_watched = false;
    if (ready > 0 && set[BELL].revents)
        silence(standby);
    if (standby->changes == changes) {
        bool is_ready = ready > 0 && set[TURN].revents;
        standby->has_come = is_ready && !is_lost && standby_brings_turn(standby->descriptor);
        if (is_lost)
            lose(standby);
        else if (is_ready && !standby->has_come)
            replace(standby, -1);
    }
    errno = error;
    return standby->has_come;
}

void standby_call_back(const struct standby *standby) {
    const uint64_t one = 1;
    if (!standby->is_watched)
        return;
    ssize_t written = write(standby->bell, &one, sizeof one);
    (void)written; /* full means that it has been rung */
}

void standby_forget(struct standby *standby) {
    if (standby->descriptor >= 0)
        close(standby->descriptor);
    if (standby->bell >= 0)
        close(standby->bell);
}
