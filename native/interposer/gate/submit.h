/* The slow path, for a call that cannot simply pass: the first call of a thread, a call at a closed
 * gate, and one now and then that looks after the work in flight. */
#ifndef NVSHARE_SUBMIT_H
#define NVSHARE_SUBMIT_H

#include "lookup/driver.h"
#include "process/streams.h"

/* Returns CUDA_SUCCESS when the call may go on, and the thread is inside until gate_leave.
 * Otherwise returns the error that the program gets instead. */
CUresult submit_slow(CUstream stream);

/* The same for a call that computes nothing. */
CUresult submit_copy(CUstream stream);

/* The same for a call that uses several streams, of any contexts. */
CUresult submit_everywhere(unsigned count, CUstream (*stream_of)(const void *list, unsigned index),
                           const void *list);

#endif
