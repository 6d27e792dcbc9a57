/* Whether a GPU still has work of this process. Never waits; called by the session's thread only. */
#ifndef NVSHARE_DRAIN_H
#define NVSHARE_DRAIN_H

#include <stdbool.h>

struct device;

/* Marks, in every context on the device, the work that has been submitted so far. Returns false if that
 * is not possible now, because a stream is being captured. */
bool drain_mark(struct device *device);

/* Whether everything up to the mark, and everything in streams of their own, is done. */
bool drain_is_done(struct device *device);

#endif
