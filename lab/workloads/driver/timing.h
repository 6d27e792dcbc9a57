/* Time as a workload counts it. On an emulated node these are emulated seconds:
 * NVSHARE_EMULATOR_SPEED is their number per real second. */
#ifndef NVSHARE_WORKLOAD_TIMING_H
#define NVSHARE_WORKLOAD_TIMING_H

#include <stdbool.h>

double timing_now_s(void);
void timing_sleep_s(double seconds);
void timing_sleep_until_s(double instant);

/* The time at which a program begins, and its GPU. */
struct start {
    double begin_s;
    int device;
};

/* Now, on the requested GPU; or, if held, as a line on standard input says: the GPU, and the
 * instant in real seconds of CLOCK_MONOTONIC. A held program prints "ready" first. So many programs
 * can begin at one moment, however long they took to start. */
struct start timing_start(bool held, int device);

#endif
