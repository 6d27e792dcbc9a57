/* The bound on work in flight, so that a turn can end soon.
 *
 * Each thread has a window: how many calls it may have in flight. After every part of the window it
 * records an event, and when the window is full it waits for the oldest event. The newer ones are
 * still in flight then, so that the GPU never runs dry. The time that the oldest took to complete
 * is the amount of work before it. If that exceeds the bound, the window is halved; if not, it
 * grows a little. Each thread keeps its window from one turn to the next.
 *
 * So it is without a daemon too. The next one may find programs that do not fit together, whose
 * kernels page: a launch queue of a thousand of those would not drain for hours.
 *
 * Where all processors are busy, a thread may be woken late and find that the GPU has run dry. Then
 * the bound is exceeded, up to eight times, until the GPU does not run dry any more, or turns end
 * late because of it. */
#ifndef NVSHARE_INFLIGHT_H
#define NVSHARE_INFLIGHT_H

#include "lookup/driver.h"

struct device;

/* Called when the budget is used up, before a call that uses `stream`. Returns the new budget. Does
 * nothing to a stream that is being captured. */
long inflight_step(struct device *device, CUstream stream);

/* A turn has ended, and the work in flight took this long to drain. */
void inflight_turn_ended(struct device *device, uint64_t drained_ns);

/* In a child after fork. */
void inflight_forget(void);

#endif
