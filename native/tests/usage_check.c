/* usage.c against a model that marks every nanosecond, and with many threads. Prints nothing if all is well.
 *
 *     usage_check model SEED STEPS        simulated threads, on a simulated clock
 *     usage_check threads THREADS ROUNDS  real ones */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "process/clock.h"
#include "shares/usage.h"

enum { THREADS_MAX = 32, ACTORS = 4, SPAN = 10 };

static struct usage usage;
static uint64_t model_now; /* 0: the clock is real */

int clock_gettime(clockid_t clock, struct timespec *out) {
    if (!model_now)
        return (int)syscall(SYS_clock_gettime, clock, out);
    *out = (struct timespec){(time_t)(model_now / 1000000000), (long)(model_now % 1000000000)};
    return 0;
}

/* The time that is known to have been busy, nanosecond by nanosecond. */
struct known {
    bool *at;
    uint64_t count;
};

static void mark(struct known *known, uint64_t from, uint64_t to) {
    for (uint64_t at = from; at < to; at++) {
        known->count += !known->at[at];
        known->at[at] = true;
    }
}

static struct known waited, all;
static uint64_t since[ACTORS]; /* when each began to wait */

static void wait_on(unsigned actor) {
    if (!since[actor]) {
        usage_wait_begins(&usage);
        since[actor] = model_now;
        return;
    }
    CHECK(usage_wait_ends(&usage) == model_now);
    since[actor] = 0;
}

static void pass_time(uint64_t ns) {
    model_now += ns;
    for (unsigned i = 0; i < ACTORS; i++) {
        if (!since[i])
            continue;
        mark(&waited, since[i], model_now);
        mark(&all, since[i], model_now);
    }
}

/* Every wait is counted. Observed work lies in the past, and can fill a gap that does not. */
static void run_model(unsigned seed, unsigned steps) {
    struct usage_totals before = {0};
    uint64_t launches = 0;
    size_t span = (size_t)(steps + 1) * SPAN;
    waited.at = calloc(span, sizeof(bool)), all.at = calloc(span, sizeof(bool));
    usage_init(&usage);
    model_now = 1;
    for (unsigned i = 0; i < steps; i++) {
        unsigned actor = (unsigned)rand_r(&seed) % ACTORS;
        if (rand_r(&seed) % 2) {
            uint64_t from = model_now - (uint64_t)rand_r(&seed) % model_now % (SPAN * SPAN);
            usage_saw(&usage, from, model_now, actor);
            mark(&all, from, model_now);
            launches += actor;
        } else {
            wait_on(actor);
        }
        pass_time((uint64_t)rand_r(&seed) % SPAN);
        struct usage_totals now = usage_read(&usage);
        CHECK(now.launches == launches && now.busy_ns >= before.busy_ns);
        CHECK(now.busy_ns >= waited.count && now.busy_ns <= all.count);
        before = now;
    }
    free(waited.at), free(all.at);
}

/* A thread that only observes, without a gap, and from time to time the same work again. */
static void run_seeing(void) {
    usage_init(&usage);
    for (uint64_t now = 100; now < 10000; now += 10)
        usage_saw(&usage, now - 10 - now % 30, now, 1);
    CHECK(usage_read(&usage).busy_ns == 9990 - 80 && usage_read(&usage).launches == 990);
}

static _Atomic bool ended;
static _Atomic uint64_t longest; /* that one thread has waited in all */

static void *wait_often(void *rounds) {
    uint64_t own = 0;
    for (int i = 0; i < *(const int *)rounds; i++) {
        uint64_t began = clock_now();
        usage_saw(&usage, began, began, 1);
        usage_wait_begins(&usage);
        began = clock_now();
        usleep((unsigned)i % 7);
        own += clock_now() - began;
        usage_wait_ends(&usage);
    }
    uint64_t before = atomic_load(&longest);
    while (own > before && !atomic_compare_exchange_weak(&longest, &before, own))
        continue;
    return NULL;
}

static void *read_often(void *nothing) {
    uint64_t before = 0;
    while (!atomic_load(&ended)) {
        uint64_t now = usage_read(&usage).busy_ns;
        CHECK(now >= before);
        before = now;
        usleep(20);
    }
    return nothing;
}

static void run_threads(unsigned threads, int rounds) {
    pthread_t all[THREADS_MAX], reader;
    usage_init(&usage);
    uint64_t began = clock_now();
    pthread_create(&reader, NULL, read_often, NULL);
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, wait_often, &rounds);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    struct usage_totals totals = usage_read(&usage);
    CHECK(totals.launches == (uint64_t)threads * (unsigned)rounds && usage.waiting == 0);
    CHECK(totals.busy_ns >= longest && totals.busy_ns <= clock_now() - began);
    atomic_store(&ended, true);
    pthread_join(reader, NULL);
}

int main(int count, char **arguments) {
    if (count != 4)
        return 2;
    unsigned first = (unsigned)atoi(arguments[2]), second = (unsigned)atoi(arguments[3]);
    if (strcmp(arguments[1], "threads") == 0) {
        run_threads(first, (int)second);
    } else {
        run_model(first, second);
        run_seeing();
    }
    return 0;
}
