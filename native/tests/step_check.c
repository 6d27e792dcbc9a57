/* gate.c and inside.c in a program whose calls are not marked: single calls that pass a closed
 * gate, and threads that are still on their way through it. Prints nothing if all is well.
 *
 *     step_check steps THREADS ROUNDS   each step lets one of many threads pass, and is seen to end
 *     step_check states                 steps without effect
 *     step_check left                   threads that sleep, and threads that compute */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "gate/inside.h"

enum { THREADS_MAX = 64, TRIES = 1000 };

static struct gate gate;
static _Atomic long begun, ended_calls;
static _Atomic bool ended;
static sem_t never;

static void knock(void *argument) {
    (void)argument;
}

static void come_to_gate(void) {
    inside_be_known();
    gate_be_at(&gate);
}

static void *call(void *nothing) {
    come_to_gate();
    while (inside_enter(&gate) == 0 && !atomic_load(&ended)) {
        CHECK(gate_thread.is_stepped && gate_is_inside());
        atomic_fetch_add(&begun, 1);
        usleep(50);
        atomic_fetch_add(&ended_calls, 1);
        gate_leave();
    }
    return nothing;
}

static void wait_until_waiting(unsigned threads) {
    while (gate_waiting(&gate) != threads)
        usleep(100);
}

static bool is_stepping(void) {
    return gate_is_stepping(&gate) || inside_has_marks(&gate);
}

static void start(pthread_t *all, unsigned threads, void *(*run)(void *)) {
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, run, NULL);
}

static void run_steps(unsigned threads, int rounds) {
    pthread_t all[THREADS_MAX];
    gate_close(&gate);
    start(all, threads, call);
    for (int round = 1; round <= rounds; round++) {
        wait_until_waiting(threads);
        CHECK(gate_step(&gate));
        while (is_stepping())
            usleep(20);
        /* It has begun and ended by now, and no other call has begun. */
        CHECK(atomic_load(&ended_calls) == round && atomic_load(&begun) == round);
        CHECK(gate_is_closed(&gate) && !gate_is_open());
    }
    atomic_store(&ended, true);
    gate_open(&gate);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
}

static void *enter_once(void *nothing) {
    (void)nothing;
    come_to_gate();
    int result = inside_enter(&gate);
    bool is_stepped = gate_thread.is_stepped;
    gate_leave();
    return (void *)(intptr_t)(result < 0 ? result : is_stepped);
}

static intptr_t result_of(pthread_t thread) {
    void *result;
    pthread_join(thread, &result);
    return (intptr_t)result;
}

static void run_states(void) {
    pthread_t thread;
    gate_close(&gate);
    /* No call waits, so none passes later. */
    CHECK(gate_step(&gate) && !gate_is_stepping(&gate));
    start(&thread, 1, enter_once);
    wait_until_waiting(1);
    usleep(1000);
    CHECK(gate_waiting(&gate) == 1);
    /* While memory is away no call passes, just as when the gate is to open. */
    CHECK(gate_falls_short(&gate) && !gate_step(&gate) && !gate_is_stepping(&gate));
    gate_is_whole(&gate);
    CHECK(gate_step(&gate) && result_of(thread) == 1);

    /* An open gate lets all calls pass, and the rest of a step is void. */
    start(&thread, 1, enter_once);
    wait_until_waiting(1);
    gate_open(&gate);
    CHECK(result_of(thread) == 0 && !gate_is_stepping(&gate));

    /* So does one that refuses. */
    gate_close(&gate);
    start(&thread, 1, enter_once);
    wait_until_waiting(1);
    gate_refuse(&gate);
    CHECK(result_of(thread) == -EPERM);

    /* A call that waits for other gates as well has not ended. */
    gate_lend(&gate);
    CHECK(gate_is_stepping(&gate));
    gate_return(&gate);
    CHECK(!gate_is_stepping(&gate));
}

static void *sleep_on(void *nothing) {
    come_to_gate();
    atomic_fetch_add(&begun, 1);
    while (sem_wait(&never) != 0 && errno == EINTR)
        continue;
    return nothing;
}

static void *compute(void *nothing) {
    come_to_gate();
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&ended))
        continue;
    return nothing;
}

static void run_left(void) {
    pthread_t sleeper, computer;
    sem_init(&never, 0, 0);
    start(&sleeper, 1, sleep_on);
    while (atomic_load(&begun) < 1)
        usleep(100);
    usleep(10000);
    inside_note_threads(&gate);
    CHECK(inside_have_left(&gate));

    /* This one may be about to call, until it has computed for a while. */
    start(&computer, 1, compute);
    while (atomic_load(&begun) < 2)
        usleep(100);
    bool had_not_left = false;
    for (int i = 0; i < TRIES && !had_not_left; i++) {
        inside_note_threads(&gate);
        had_not_left = !inside_have_left(&gate);
    }
    CHECK(had_not_left);
    while (!inside_have_left(&gate))
        usleep(100);
    atomic_store(&ended, true);
    sem_post(&never);
    pthread_join(computer, NULL);
    pthread_join(sleeper, NULL);
    /* An ended thread is not waited for. */
    inside_note_threads(&gate);
    CHECK(inside_have_left(&gate));
}

int main(int count, char **arguments) {
    gate_init(&gate, knock, NULL);
    if (count == 4 && strcmp(arguments[1], "steps") == 0)
        run_steps((unsigned)atoi(arguments[2]), atoi(arguments[3]));
    else if (count == 2 && strcmp(arguments[1], "states") == 0)
        run_states();
    else if (count == 2 && strcmp(arguments[1], "left") == 0)
        run_left();
    else
        return 2;
    return 0;
}
