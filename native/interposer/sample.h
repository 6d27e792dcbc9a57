/* Launches that are looked at, to learn which memory is in use: one now and then, see submit.c. */
#ifndef NVSHARE_SAMPLE_H
#define NVSHARE_SAMPLE_H

#include "driver.h"

/* A kernel with its parameters, as in cuLaunchKernel. */
void sample_kernel(CUfunction function, void **parameters, void **extra);

/* Something that may use any memory. */
void sample_anything(void);

/* In a child after fork. */
void sample_forget(void);

#endif
