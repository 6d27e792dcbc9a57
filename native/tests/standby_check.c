/* gate.c with standby.c: gates that open by a socket, with many threads. Prints nothing if all is well.
 *
 *     standby_check turns THREADS ROUNDS   every thread passes when the turn comes, and not before
 *     standby_check states                 withdrawing, replacing, signals, cancellation, lost descriptors
 *     standby_check storm THREADS ROUNDS   everything at once; ends if no thread is forgotten */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "descriptor.h"
#include "gate/gate.h"

enum { THREADS_MAX = 64 };

static struct gate gate;
static _Atomic long passed;
static _Atomic bool ended;

static _Atomic long knocks;

static void knock(void *argument) {
    (void)argument;
    atomic_fetch_add(&knocks, 1);
}

static void hand_over(int descriptor) {
    const char one = 1;
    CHECK(send(descriptor, &one, 1, MSG_NOSIGNAL) == 1 || errno == EPIPE);
}

struct ends {
    int own, other;
};

static struct ends new_ends(void) {
    int both[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
    return (struct ends){descriptor_keep(both[0]), both[1]};
}

/* Returns the predecessor's end. */
static int stand_by(void) {
    struct ends ends = new_ends();
    CHECK(gate_stand_by(&gate, ends.own) == 0);
    return ends.other;
}

static void *pass_once(void *nothing) {
    errno = EXDEV;
    CHECK(gate_enter(&gate) == 0 && errno == EXDEV);
    atomic_fetch_add(&passed, 1);
    return nothing;
}

static void *pass_on(void *nothing) {
    while (!atomic_load(&ended))
        pass_once(NULL);
    return nothing;
}

static void start(pthread_t *all, unsigned threads, void *(*run)(void *)) {
    for (unsigned i = 0; i < threads; i++)
        CHECK(pthread_create(&all[i], NULL, run, NULL) == 0);
}

static void join(const pthread_t *all, unsigned threads) {
    for (unsigned i = 0; i < threads; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
}

static struct standby look(void) {
    pthread_mutex_lock(&gate.lock);
    struct standby standby = gate.standby;
    pthread_mutex_unlock(&gate.lock);
    return standby;
}

static void wait_until_waiting(unsigned threads) {
    while (gate_waiting(&gate) != threads)
        usleep(100);
}

static void wait_until_watched(void) {
    while (!look().is_watched)
        usleep(100);
}

/* In every other round the socket comes before the threads, and the first of them has to see it. */
static void run_turns(unsigned threads, int rounds) {
    pthread_t all[THREADS_MAX];
    for (int round = 0; round < rounds; round++) {
        gate_close(&gate);
        atomic_store(&passed, 0);
        int turn = round % 2 ? stand_by() : -1;
        start(all, threads, pass_once);
        wait_until_waiting(threads);
        if (turn < 0)
            turn = stand_by();
        wait_until_watched();
        CHECK(atomic_load(&passed) == 0 && !gate_has_begun(&gate));
        hand_over(turn);
        join(all, threads);
        CHECK(atomic_load(&passed) == threads && gate_has_begun(&gate));
        CHECK(!gate_is_closed(&gate) && gate_withdraw(&gate) && !gate_has_begun(&gate));
        close(turn);
    }
}

static void ignore(int signal) {
    (void)signal;
}

/* The watcher sleeps: a bell that stayed readable would keep it awake. */
static bool still_waits(void) {
    struct pollfd bell = {.fd = look().bell.heard, .events = POLLIN};
    do
        usleep(2000);
    while (poll(&bell, 1, 0) != 0);
    return gate_waiting(&gate) == 1 && !gate_has_begun(&gate);
}

static void check_replaced(void) {
    pthread_t thread;
    start(&thread, 1, pass_once);
    int first = stand_by();
    wait_until_watched();
    int second = stand_by();
    hand_over(first);
    CHECK(still_waits());
    int third = stand_by();
    hand_over(third);
    join(&thread, 1);
    CHECK(gate_withdraw(&gate));
    close(first), close(second), close(third);
    gate_close(&gate);
}

/* The watcher has seen that it is readable, and waits for the lock to say so. */
static void check_replaced_at_the_last_moment(void) {
    pthread_t thread;
    int first = stand_by();
    struct ends second = new_ends();
    start(&thread, 1, pass_once);
    wait_until_watched();
    pthread_mutex_lock(&gate.lock);
    hand_over(first);
    usleep(2000);
    CHECK(standby_set(&gate.standby, second.own) == 0);
    pthread_mutex_unlock(&gate.lock);
    CHECK(still_waits());
    gate_open(&gate);
    join(&thread, 1);
    CHECK(!gate_withdraw(&gate));
    close(first), close(second.other);
    gate_close(&gate);
}

static void check_withdrawn(void) {
    pthread_t thread;
    int turn = stand_by();
    start(&thread, 1, pass_once);
    wait_until_watched();
    CHECK(!gate_withdraw(&gate));
    hand_over(turn);
    while (look().is_watched)
        usleep(100);
    /* No thread watches any more: a late bell may stay readable until there is a next one. */
    usleep(2000);
    CHECK(gate_waiting(&gate) == 1 && !gate_has_begun(&gate));
    gate_open(&gate);
    join(&thread, 1);
    close(turn);
    gate_close(&gate);
}

/* Opening the gate in another way calls the watcher back. */
static void check_called_back(void) {
    pthread_t thread;
    int turn = stand_by();
    start(&thread, 1, pass_once);
    wait_until_watched();
    gate_open(&gate);
    join(&thread, 1);
    CHECK(!gate_withdraw(&gate));
    close(turn);
    gate_close(&gate);
}

static void check_disturbed(void) {
    pthread_t thread;
    int turn = stand_by();
    start(&thread, 1, pass_once);
    wait_until_watched();
    for (int i = 0; i < 10; i++) {
        pthread_kill(thread, SIGUSR1);
        usleep(200);
    }
    pthread_cancel(thread);
    CHECK(still_waits());
    atomic_store(&passed, 0);
    hand_over(turn);
    join(&thread, 1);
    CHECK(atomic_load(&passed) == 1 && gate_withdraw(&gate));
    close(turn);
    gate_close(&gate);
}

static int lose_standby(void) {
    return look().descriptor;
}

static int lose_bell(void) {
    return look().bell.heard;
}

static int lose_ring(void) {
    return look().bell.rung;
}

/* A program may close all descriptors, and then no thread watches them. What it opens with their
 * numbers is left alone, although there is something to read, and stays open. */
static void check_lost(int (*lose)(void), bool is_watched) {
    pthread_t thread;
    struct ends own = new_ends();
    int turn = stand_by(), again, number = lose();
    hand_over(own.other);
    if (!is_watched)
        CHECK(dup2(own.own, number) == number);
    start(&thread, 1, pass_once);
    wait_until_waiting(1);
    if (is_watched) {
        wait_until_watched();
        CHECK(dup2(own.own, number) == number);
        gate_close(&gate); /* calls the watcher back */
    }
    while (look().descriptor >= 0)
        usleep(100);
    CHECK(!gate_has_begun(&gate) && atomic_load(&passed) == 0);
    char one;
    CHECK(recv(number, &one, 1, MSG_DONTWAIT) == 1 && recv(number, &one, 1, MSG_DONTWAIT) == -1);
    again = stand_by();
    wait_until_watched();
    hand_over(again);
    join(&thread, 1);
    CHECK(gate_withdraw(&gate) && fcntl(number, F_GETFD) >= 0);
    close(turn), close(again), close(number), close(own.other);
    descriptor_close(own.own);
    gate_close(&gate);
}

/* The predecessor has ended, or has closed its end: the daemon gives the turn. Its earlier writes
 * count. */
static void check_hung_up(void) {
    pthread_t thread;
    int first = stand_by();
    start(&thread, 1, pass_once);
    wait_until_watched();
    close(first);
    while (look().descriptor >= 0)
        usleep(100);
    CHECK(still_waits() && !gate_has_begun(&gate));
    int second = stand_by();
    wait_until_watched();
    hand_over(second);
    close(second);
    join(&thread, 1);
    CHECK(gate_withdraw(&gate));
    gate_close(&gate);
}

/* A gate that lacks memory is opened by the session. */
static void check_short(void) {
    pthread_t thread;
    int turn = stand_by();
    CHECK(gate_falls_short(&gate));
    start(&thread, 1, pass_once);
    wait_until_watched();
    long before = atomic_load(&knocks);
    hand_over(turn);
    while (!gate_has_begun(&gate))
        usleep(100);
    usleep(2000);
    CHECK(atomic_load(&knocks) == before + 1 && gate_is_closed(&gate) && gate_waiting(&gate) == 1);
    gate_is_whole(&gate);
    gate_open(&gate);
    join(&thread, 1);
    CHECK(gate_withdraw(&gate));
    close(turn);
    gate_close(&gate);
}

static void run_states(void) {
    signal(SIGUSR1, ignore);
    gate_close(&gate);
    check_replaced();
    check_replaced_at_the_last_moment();
    check_withdrawn();
    check_called_back();
    check_disturbed();
    for (int is_watched = 0; is_watched < 2; is_watched++) {
        atomic_store(&passed, 0);
        check_lost(lose_standby, is_watched);
        atomic_store(&passed, 0);
        check_lost(lose_bell, is_watched);
        atomic_store(&passed, 0);
        check_lost(lose_ring, is_watched);
    }
    check_hung_up();
    check_short();
}

static void do_something(unsigned choice) {
    int turn;
    switch (choice % 6) {
    case 0: gate_open(&gate); break;
    case 1: gate_close(&gate); break;
    case 2: gate_withdraw(&gate); break;
    case 3: gate_watch(&gate); break;
    case 4: gate_close_if_unused(&gate); break;
    default:
        turn = stand_by();
        if (choice % 12 == 5)
            hand_over(turn);
        close(turn);
    }
}

static void run_storm(unsigned threads, int rounds) {
    pthread_t all[THREADS_MAX];
    unsigned seed = 7;
    start(all, threads, pass_on);
    for (int round = 0; round < rounds; round++)
        do_something((unsigned)rand_r(&seed));
    gate_withdraw(&gate);
    gate_close(&gate);
    wait_until_waiting(threads);
    atomic_store(&ended, true);
    int turn = stand_by();
    hand_over(turn);
    join(all, threads);
    close(turn);
}

int main(int count, char **arguments) {
    gate_init(&gate, knock, NULL);
    if (count == 4 && strcmp(arguments[1], "turns") == 0)
        run_turns((unsigned)atoi(arguments[2]), atoi(arguments[3]));
    else if (count == 4 && strcmp(arguments[1], "storm") == 0)
        run_storm((unsigned)atoi(arguments[2]), atoi(arguments[3]));
    else if (count == 2 && strcmp(arguments[1], "states") == 0)
        run_states();
    else
        return 2;
    return 0;
}
