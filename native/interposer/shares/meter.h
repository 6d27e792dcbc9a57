/* The GPU time that calls of the program really took, measured with events around them.
 *
 * Each call that is looked at stands between two events. While the GPU has work, the one behind a call
 * is also the one before the next. All moments are counted from one event of the device, so that calls
 * which ran at the same time, in several streams or from several threads, count once.
 *
 * Where calls are very short, events cost as much as they do. Then only one call of a few is measured, and
 * stands for all of them. */
#ifndef NVSHARE_METER_H
#define NVSHARE_METER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

struct device;

/* What a device's threads have in common. */
struct meter {
    pthread_mutex_t lock;
    uint64_t context;  /* whose event the next one is; 0: there is none */
    CUevent base;      /* moments are counted from it */
    uint64_t base_ns;  /* what it is itself, on a clock that begins with the first one */
    uint64_t known_to; /* all that is counted lies before */
};

void meter_init(struct meter *meter);

/* Takes in what has completed of the calling thread's calls. Returns the GPU time that they took. */
uint64_t meter_collect(struct device *device);

/* Waits until one more of the thread's calls has completed. Returns false if none is in flight. */
bool meter_await(void);

/* An estimate of the GPU time that the thread's calls in flight are going to take. More than anybody has,
 * while nothing is known of any call, or if one more could not be measured. */
#define METER_UNKNOWN ((uint64_t)INT64_MAX)
uint64_t meter_pending(void);

/* Around a call. Returns how many calls it stands for: the next so many less one need not be measured. */
unsigned meter_begin(struct device *device, CUstream stream);
void meter_end(CUstream stream);

/* In a child after fork. */
void meter_forget(void);

#endif
