/* The two flavours of a call. Every driver function that takes a stream exists twice: in the
 * ordinary flavour, stream 0 is the legacy stream; in the flavour _ptsz (or _ptds, if the stream is
 * implied) it is the calling thread's own. */
#ifndef NVSHARE_EMULATOR_FLAVOUR_H
#define NVSHARE_EMULATOR_FLAVOUR_H

#include <stdbool.h>

/* True while this thread is inside a call of the per-thread flavour. The generated _ptsz and _ptds
 * functions set it around the ordinary function, which is thus written once. Code that turns a
 * CUstream into a stream reads it. */
extern _Thread_local bool emulator_per_thread_default;

#endif
