/* The way of a call that cannot simply pass: the first of a thread, one at a closed gate, and one now
 * and then that looks after the work in flight. */
#ifndef NVSHARE_SUBMIT_H
#define NVSHARE_SUBMIT_H

#include "lookup/driver.h"
#include "process/streams.h"

/* Returns CUDA_SUCCESS when the call may go on, and the thread is inside until gate_leave; else what the program
 * gets instead. */
CUresult submit_slow(CUstream stream);

/* The same for a call that computes nothing. */
CUresult submit_copy(CUstream stream);

/* The same for streams of any contexts: a call that uses all of them. */
CUresult submit_everywhere(unsigned count, CUstream (*stream_of)(const void *list, unsigned index),
                           const void *list);

#endif
