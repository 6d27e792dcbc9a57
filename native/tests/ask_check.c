/* ask.c, with a scripted session. Prints nothing if all is well.
 *
 *     ask_check THREADS ROUNDS     threads that allocate and free, and ask when they have to
 *     ask_check silence            the daemon does not answer, or has ended */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory/ask.h"
#include "process/clock.h"

#define MIB ((uint64_t)1 << 20)

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = UINT64_MAX};
static struct ask ask;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t knocked = PTHREAD_COND_INITIALIZER;
static unsigned knocks;
static _Atomic bool is_over;
static _Atomic unsigned refusals;

static void knock(void *nothing) {
    (void)nothing;
    pthread_mutex_lock(&lock);
    knocks++;
    pthread_cond_signal(&knocked);
    pthread_mutex_unlock(&lock);
}

/* Says no to every third question. */
static void answer(void) {
    static unsigned count;
    uint64_t ticket, used = atomic_load(&account.used);
    bool can_move;
    if (!ask_take(&ask, used, &ticket))
        return;
    CHECK(!ask_take(&ask, used, &ticket));
    CHECK(!ask_is_open(&ask, ticket + 1, &can_move));
    CHECK(ask_is_open(&ask, ticket, &can_move) && can_move);
    ask_answer(&ask, &account, ++count % 3 ? ASK_YES : ASK_NO);
}

static void *session(void *nothing) {
    pthread_mutex_lock(&lock);
    while (!atomic_load(&is_over)) {
        while (!knocks && !atomic_load(&is_over))
            pthread_cond_wait(&knocked, &lock);
        knocks = 0;
        pthread_mutex_unlock(&lock);
        answer();
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return nothing;
}

static void *allocate(void *argument) {
    int rounds = *(int *)argument;
    for (int i = 0; i < rounds; i++) {
        CHECK(account_reserve(&account, 40 * MIB, false) == 0);
        enum ask_result result = ask_daemon(&ask, &account, true, CLOCK_MS(100000));
        CHECK(result != ASK_SILENCE);
        atomic_fetch_add(&refusals, result == ASK_NO);
        account_release(&account, 40 * MIB, false);
        if (i % 2)
            atomic_store(&account.agreed, 0); /* as a report of less does */
    }
    return NULL;
}

static void check_threads(int count, int rounds) {
    pthread_t threads[16], answerer;
    CHECK(count <= 16);
    CHECK(pthread_create(&answerer, NULL, session, NULL) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, allocate, &rounds) == 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    knock(NULL);
    pthread_join(answerer, NULL);
    CHECK(atomic_load(&refusals) > 0 && ask.state == ASK_NOBODY);
}

static void *give_up_soon(void *nothing) {
    uint64_t ticket;
    while (!ask_take(&ask, 0, &ticket))
        sched_yield();
    ask_give_up(&ask);
    return nothing;
}

static void check_silence(void) {
    pthread_t thread;
    CHECK(!ask_is_needed(&account));
    CHECK(ask_daemon(&ask, &account, false, 0) == ASK_YES);
    CHECK(account_reserve(&account, 33 * MIB, false) == 0 && ask_is_needed(&account));
    CHECK(ask_daemon(&ask, &account, false, CLOCK_MS(1)) == ASK_SILENCE);
    CHECK(ask.state == ASK_NOBODY && knocks == 1);
    /* An answer that comes too late is ignored. */
    bool can_move;
    CHECK(!ask_is_open(&ask, 1, &can_move));
    ask_answer(&ask, &account, ASK_NO);
    CHECK(ask.state == ASK_NOBODY);
    CHECK(pthread_create(&thread, NULL, give_up_soon, NULL) == 0);
    CHECK(ask_daemon(&ask, &account, false, CLOCK_MS(100000)) == ASK_SILENCE);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    ask_init(&ask, knock, NULL);
    if (argc == 3)
        return check_threads(atoi(argv[1]), atoi(argv[2])), 0;
    if (argc == 2 && strcmp(argv[1], "silence") == 0)
        return check_silence(), 0;
    return 2;
}
