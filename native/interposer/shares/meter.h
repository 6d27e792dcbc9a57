/* The GPU time that the program's calls really took, measured with events around them.
 *
 * Each measured call lies between two events. While the GPU has work, the event behind a call is
 * also the one before the next. All moments are counted from one event of the device, so that calls
 * which ran at the same time, in several streams or from several threads, count once.
 *
 * Where calls are very short, events cost as much as the calls. Then only one call of a few is
 * measured, and stands for all of them. */
#ifndef NVSHARE_METER_H
#define NVSHARE_METER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

struct device;

/* Shared by a device's threads. */
struct meter {
    pthread_mutex_t lock;
    uint64_t context;  /* the context of the event below; 0: there is none */
    CUevent base;      /* moments are counted from it */
    uint64_t base_ns;  /* its own moment, on a clock that begins with the first one */
    uint64_t known_to; /* everything counted lies before */
};

void meter_init(struct meter *meter);

/* Collects the thread's completed calls. Returns the GPU time that they took. */
uint64_t meter_collect(struct device *device);

/* Waits until one more of the thread's calls has completed. Returns false if none is in flight. */
bool meter_await(void);

/* An estimate of the GPU time that the thread's calls in flight will take. METER_UNKNOWN while no
 * call has completed, or if one more could not be measured. */
#define METER_UNKNOWN ((uint64_t)INT64_MAX)
uint64_t meter_pending(void);

/* Around a call. Returns how many calls it stands for: the others need not be measured. */
unsigned meter_begin(struct device *device, CUstream stream);
void meter_end(CUstream stream);

/* In a child after fork. */
void meter_forget(void);

#endif
