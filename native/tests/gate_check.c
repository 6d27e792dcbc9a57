/* gate.c with many threads. Prints nothing if all is well.
 *
 *     gate_check turns THREADS ROUNDS   threads pass while it is open, and only then
 *     gate_check states                 refusing, deciding, watching */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "gate/gate.h"

static struct gate gate;
static _Atomic long passed, knocks;
static _Atomic bool ended;

static void knock(void *argument) {
    (void)argument;
    atomic_fetch_add(&knocks, 1);
}

static void *pass_on(void *nothing) {
    gate_thread = (struct gate_thread){.gate = &gate, .budget = 1000000000};
    while (!atomic_load(&ended)) {
        if (!gate_is_open() && gate_enter(&gate) < 0)
            break;
        atomic_fetch_add(&passed, 1);
    }
    return nothing;
}

static void wait_until_waiting(unsigned threads) {
    while (gate_waiting(&gate) != threads)
        usleep(100);
}

/* While it is closed and all wait, no thread passes; while it is open, some do. */
static void run_turns(unsigned threads, int rounds) {
    pthread_t all[64];
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, pass_on, NULL);
    for (int round = 0; round < rounds; round++) {
        gate_close(&gate);
        wait_until_waiting(threads);
        long before = atomic_load(&passed);
        usleep(500);
        CHECK(atomic_load(&passed) == before && atomic_load(&knocks) >= 1);
        gate_open(&gate);
        while (atomic_load(&passed) < before + 100)
            usleep(100);
    }
    atomic_store(&ended, true);
    gate_open(&gate);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
}

static void *await_decision(void *nothing) {
    (void)nothing;
    return (void *)(intptr_t)gate_await_decision(&gate);
}

static void just_open(struct gate *one) {
    gate_open(one);
}

static intptr_t decided_by(void (*decide)(struct gate *)) {
    pthread_t thread;
    void *result;
    gate_init(&gate, knock, NULL);
    pthread_create(&thread, NULL, await_decision, NULL);
    usleep(1000);
    decide(&gate);
    pthread_join(thread, &result);
    return (intptr_t)result;
}

static void run_states(void) {
    CHECK(decided_by(gate_refuse) == -EPERM);
    CHECK(gate_enter(&gate) == -EPERM && !gate_is_closed(&gate));
    CHECK(decided_by(gate_close) == 0);
    CHECK(gate_is_closed(&gate) && decided_by(just_open) == 0);

    /* Watching: calls are noticed once, and the gate closes only if there was none. */
    gate_thread = (struct gate_thread){.gate = &gate, .budget = 10};
    CHECK(gate_is_open());
    gate_watch(&gate);
    CHECK(!gate_is_open() && !gate_was_used(&gate));
    CHECK(gate_enter(&gate) == 0 && gate_was_used(&gate) && gate_is_open());
    CHECK(!gate_close_if_unused(&gate) && gate_is_open());
    gate_watch(&gate);
    CHECK(gate_close_if_unused(&gate) && gate_is_closed(&gate));
    gate_open(&gate);
    CHECK(gate_is_open());

    /* The budget is the thread's own, and an empty one is like a closed gate. */
    gate_thread.budget = 1;
    CHECK(gate_is_open() && !gate_is_open() && gate_thread.budget == -1);
    gate_forget();
    CHECK(!gate_is_open());
}

int main(int count, char **arguments) {
    gate_init(&gate, knock, NULL);
    if (count == 4 && strcmp(arguments[1], "turns") == 0)
        run_turns((unsigned)atoi(arguments[2]), atoi(arguments[3]));
    else if (count == 2 && strcmp(arguments[1], "states") == 0)
        run_states();
    else
        return 2;
    return 0;
}
