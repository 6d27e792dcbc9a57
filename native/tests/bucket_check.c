/* bucket.c in virtual time. Prints nothing if all is well.
 *
 *     bucket_check play SHARE_PERCENT WINDOW_MS CALL_MS SECONDS   a program that always wants more:
 *                                                                 prints its part, in percent
 *     bucket_check states                                         the promises of each function
 *     bucket_check threads THREADS BILLS                          bills from all sides add up */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "shares/bucket.h"

static const uint64_t ms = 1000000, second = 1000000000;

static void play(char **arguments) {
    struct rate rate = {(uint32_t)(atof(arguments[0]) * 10000), (uint64_t)atoi(arguments[1]) * ms};
    uint64_t call = (uint64_t)(atof(arguments[2]) * 1e6);
    uint64_t start = 100 * second, end = start + (uint64_t)atoi(arguments[3]) * second;
    uint64_t now = start, used = 0;
    _Atomic uint64_t paid_until = 0;
    struct bucket bucket = {&paid_until};
    bucket_change(&bucket, &(struct rate){0}, &rate, now);
    while (now < end) {
        if (bucket_left(&bucket, &rate, now) < 0) {
            now = bucket_next(&bucket, &rate);
            continue;
        }
        now += call;
        used += call;
        bucket_bill(&bucket, &rate, call, now);
    }
    printf("%.3f\n", 100.0 * (double)used / (double)(now - start));
}

static void states(void) {
    const struct rate none = {0}, half = {500000, 100 * ms}, longer = {500000, 1000 * ms};
    uint64_t now = 50 * second;
    _Atomic uint64_t paid_until = 0;
    struct bucket bucket = {&paid_until};
    /* At first there is the credit of a new cycle: half of half a window, of which half can be
     * used. */
    bucket_change(&bucket, &none, &half, now);
    CHECK(bucket_left(&bucket, &half, now) == (int64_t)(12500000));
    /* Rest brings credit, but no more than a window's. */
    CHECK(bucket_left(&bucket, &half, now + 10 * ms) == (int64_t)(17500000));
    CHECK(bucket_left(&bucket, &half, now + second) == (int64_t)(50 * ms));
    /* A call that takes far more than the window is paid back in full. */
    now += 3 * second;
    bucket_bill(&bucket, &half, 2 * second, now);
    CHECK(bucket_left(&bucket, &half, now) == -(int64_t)(950 * ms));
    CHECK(bucket_next(&bucket, &half) == now + 1900 * ms + 25 * ms);
    CHECK(bucket_left(&bucket, &half, now + 1900 * ms) == 0);
    /* Unwanted time is not. */
    bucket_forgive(&bucket, now);
    CHECK(bucket_left(&bucket, &half, now) == 0);
    bucket_forgive(&bucket, now + ms);
    CHECK(bucket_left(&bucket, &half, now + ms) == (int64_t)(500000));
    /* A longer window gives no credit for the past beyond that of a new cycle. */
    now += 10 * second;
    bucket_change(&bucket, &half, &longer, now);
    CHECK(bucket_left(&bucket, &longer, now) == (int64_t)(125 * ms));
    /* Debts stay through a change. */
    bucket_bill(&bucket, &longer, second, now);
    int64_t owed = bucket_left(&bucket, &longer, now);
    CHECK(owed < 0);
    bucket_change(&bucket, &longer, &half, now);
    CHECK(bucket_left(&bucket, &half, now) == owed);
}

static _Atomic uint64_t shared_until;
static struct bucket shared = {&shared_until};
static const struct rate quarter = {250000, 100000000};
static const uint64_t moment = 1000000000000;

static void *bill_often(void *count) {
    for (int i = 0; i < *(int *)count; i++)
        bucket_bill(&shared, &quarter, 1000, moment);
    return NULL;
}

static void threads(int thread_count, int bills) {
    pthread_t thread[64];
    CHECK(thread_count <= 64);
    bucket_change(&shared, &(struct rate){0}, &quarter, moment);
    uint64_t before = atomic_load(&shared_until);
    for (int i = 0; i < thread_count; i++)
        CHECK(pthread_create(&thread[i], NULL, bill_often, &bills) == 0);
    for (int i = 0; i < thread_count; i++)
        pthread_join(thread[i], NULL);
    CHECK(atomic_load(&shared_until) == before + (uint64_t)thread_count * (uint64_t)bills * 4000);
}

int main(int count, char **arguments) {
    if (count == 6 && strcmp(arguments[1], "play") == 0)
        play(arguments + 2);
    else if (count == 2 && strcmp(arguments[1], "states") == 0)
        states();
    else if (count == 4 && strcmp(arguments[1], "threads") == 0)
        threads(atoi(arguments[2]), atoi(arguments[3]));
    else
        return 2;
    return 0;
}
