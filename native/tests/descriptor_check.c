/* descriptor.c and bell.c, in a program that closes what it has not opened. Prints nothing if all is
 * well.
 *
 *     descriptor_check kept         what is kept is known, and what the program opens in its place is not touched
 *     descriptor_check bell         the same for a bell, and who waits for it wakes up
 *     descriptor_check limited      all of it with RLIMIT_NOFILE = 0
 *     descriptor_check full         more than there is room for
 *     descriptor_check threads      from many threads, while descriptors come and go */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bell.h"
#include "check.h"
#include "descriptor.h"

static int keep_one(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    close(ends[1]);
    return descriptor_keep(ends[0]);
}

static bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

static void check_kept(void) {
    errno = EXDEV;
    int first = keep_one(), second = keep_one();
    CHECK(first >= 500 && second > first && fcntl(first, F_GETFD) == FD_CLOEXEC);
    CHECK(descriptor_is_kept(first) && descriptor_is_kept(second));
    CHECK(!descriptor_is_kept(-1) && !descriptor_is_kept(0) && !descriptor_is_kept(second + 1));
    descriptor_close(-1);
    descriptor_close(0);
    CHECK(is_open(0));

    /* The program puts something in its place. */
    CHECK(dup2(0, first) == first && !descriptor_is_kept(first));
    descriptor_close(first);
    CHECK(is_open(first));
    /* The kernel gives us the number of one that was lost. */
    close(second);
    CHECK(!descriptor_is_kept(second));
    int again = keep_one();
    CHECK(again == second && descriptor_is_kept(again));
    descriptor_close(again);
    CHECK(errno == EXDEV && !descriptor_is_kept(again) && !is_open(again));
}

static int await(int descriptor, int events, long ms) {
    struct pollfd set = {.fd = descriptor, .events = (short)events};
    const struct timespec timeout = {ms / 1000, ms % 1000 * 1000000};
    return descriptors_await(&set, 1, &timeout);
}

static void *listen_to(void *bell) {
    struct pollfd set = {.fd = ((struct bell *)bell)->heard, .events = POLLIN};
    CHECK(descriptors_await(&set, 1, NULL) == 1);
    return NULL;
}

/* Not only a ring ends the wait, but the loss of either end as well. */
static void check_woken(struct bell *bell, bool rung_is_lost, bool heard_is_lost) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, listen_to, bell) == 0);
    usleep(20000);
    if (heard_is_lost)
        CHECK(dup2(0, bell->heard) == bell->heard);
    if (rung_is_lost)
        CHECK(dup2(0, bell->rung) == bell->rung);
    else
        bell_ring(bell);
    pthread_join(thread, NULL);
}

static void check_bell(void) {
    struct bell bell;
    errno = EXDEV;
    bell_init(&bell);
    CHECK(!bell_is_there(&bell));
    bell_ring(&bell);
    bell_silence(&bell);
    CHECK(bell_need(&bell) == 0 && bell_is_there(&bell));
    int rung = bell.rung;
    CHECK(bell_need(&bell) == 0 && bell.rung == rung);
    CHECK(await(bell.heard, POLLIN, 0) == 0);
    for (int i = 0; i < 100000; i++)
        bell_ring(&bell);
    CHECK(await(bell.heard, POLLIN, 0) == 1);
    bell_silence(&bell);
    CHECK(await(bell.heard, POLLIN, 0) == 0);
    for (int which = 0; which < 4; which++) {
        check_woken(&bell, which & 1, which & 2);
        CHECK(bell_is_there(&bell) == !which && bell_need(&bell) == 0 && bell_is_there(&bell));
        bell_silence(&bell);
    }

    /* Another socket in its place gets no byte. */
    int own[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, own) == 0 && dup2(own[0], bell.rung) == bell.rung);
    bell_ring(&bell);
    CHECK(await(own[1], POLLIN, 0) == 0);
    rung = bell.rung;
    bell_close(&bell);
    CHECK(errno == EXDEV && is_open(rung) && !bell_is_there(&bell));
}

static void check_limited(void) {
    struct rlimit before;
    int ends[2];
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const struct rlimit none = {0, before.rlim_max};
    CHECK(pipe(ends) == 0);
    int reading = descriptor_keep(ends[0]), writing = descriptor_keep(ends[1]);
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(descriptor_is_kept(reading) && await(reading, POLLIN, 0) == 0);
    CHECK(await(reading, POLLIN, 20) == 0 && await(writing, POLLOUT, 1000) == 1);
    CHECK(write(writing, "1", 1) == 1 && await(reading, POLLIN, 1000) == 1);
    struct pollfd set[] = {{.fd = -1}, {.fd = reading, .events = POLLIN}, {.fd = writing}};
    CHECK(descriptors_await(set, 3, NULL) == 1);
    CHECK(set[0].revents == 0 && set[1].revents == POLLIN && set[2].revents == 0);
    descriptor_close(reading);
    CHECK(!is_open(reading) && await(reading, POLLIN, 1000) == -EBADF);
    struct bell bell;
    bell_init(&bell);
    CHECK(bell_need(&bell) == -EMFILE && !bell_is_there(&bell));
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0); /* sanitizers open files at the end */
}

static void check_full(void) {
    int last = 0, count = 0;
    while ((last = keep_one()) >= 0)
        count++;
    CHECK(count > 100 && count < 1024);
    descriptor_close(500);
    CHECK(keep_one() == 500);
}

static void *come_and_go(void *nothing) {
    for (int i = 0; i < 5000; i++) {
        int one = keep_one();
        CHECK(one >= 0 && descriptor_is_kept(one));
        descriptor_close(one);
    }
    return nothing;
}

static void check_threads(void) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, come_and_go, NULL) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
    const char *what = count == 2 ? arguments[1] : "";
    if (strcmp(what, "kept") == 0)
        return check_kept(), 0;
    if (strcmp(what, "bell") == 0)
        return check_bell(), 0;
    if (strcmp(what, "limited") == 0)
        return check_limited(), 0;
    if (strcmp(what, "full") == 0)
        return check_full(), 0;
    if (strcmp(what, "threads") == 0)
        return check_threads(), 0;
    return 2;
}
