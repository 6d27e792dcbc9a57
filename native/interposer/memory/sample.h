/* Looks at calls to learn which memory is in use: at one now and then, and at every one while there
 * is memory that was never used, see submit.c. */
#ifndef NVSHARE_SAMPLE_H
#define NVSHARE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "lookup/driver.h"

struct device;

/* A kernel with its parameters, as in cuLaunchKernel. */
void sample_kernel(CUfunction function, void **parameters, void **extra);

/* A call with addresses somewhere in these bytes. */
void sample_bytes(const void *bytes, size_t size);

/* A call that may use any memory: of the current device, or of all. */
void sample_anything(void);
void sample_everything(void);

/* Whether the next call is to be looked at because of new memory. If not, the gate is told that
 * calls need not take the slow path any more. */
bool sample_wants(struct device *device);

/* In a child after fork. */
void sample_forget(void);

#endif
