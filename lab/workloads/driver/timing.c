#include "timing.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double speed(void) {
    const char *text = getenv("NVSHARE_EMULATOR_SPEED");
    double factor = text ? strtod(text, NULL) : 1;
    return factor > 0 ? factor : 1;
}

double timing_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((double)now.tv_sec + (double)now.tv_nsec / 1e9) * speed();
}

void timing_sleep_s(double seconds) {
    timing_sleep_until_s(timing_now_s() + seconds);
}

/* A machine wakes a sleeper some 60 us late, which at speed 100 are 6 ms: so the end of an emulated
 * sleep is a busy wait. On a real GPU this is an ordinary sleep. */
void timing_sleep_until_s(double instant) {
    double awake_s = speed() == 1 ? 0 : 150e-6;
    double real = (instant - timing_now_s()) / speed() - awake_s;
    if (real > 0) {
        struct timespec length = {(time_t)real, (long)((real - (double)(time_t)real) * 1e9)};
        nanosleep(&length, NULL);
    }
    while (awake_s > 0 && timing_now_s() < instant)
        sched_yield();
}

struct start timing_start(bool held, int device) {
    struct start start = {.begin_s = timing_now_s(), .device = device};
    if (!held)
        return start;
    double instant;
    puts("ready");
    fflush(stdout);
    if (scanf("%d %lf", &start.device, &instant) != 2) {
        fprintf(stderr, "--held: standard input ended before it said when to begin\n");
        exit(1);
    }
    start.begin_s = instant * speed();
    return start;
}
