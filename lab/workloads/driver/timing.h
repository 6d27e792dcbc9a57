/* Time as a workload counts it. On an emulated node it is emulated seconds: NVSHARE_EMULATOR_SPEED says
 * how many there are in a real one. */
#ifndef NVSHARE_WORKLOAD_TIMING_H
#define NVSHARE_WORKLOAD_TIMING_H

#include <stdbool.h>

double timing_now_s(void);
void timing_sleep_s(double seconds);
void timing_sleep_until_s(double instant);

/* When a program begins, and on which GPU. */
struct start {
    double begin_s;
    int device;
};

/* Now, on the GPU that was asked for; or, when held, as a line on standard input says: the GPU, and the
 * instant in real seconds of CLOCK_MONOTONIC. A held program says "ready" first. It lets somebody have
 * many programs begin at one moment, whatever it took to start them. */
struct start timing_start(bool held, int device);

#endif
