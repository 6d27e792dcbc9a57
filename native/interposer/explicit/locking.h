/* The driver's part of extents: their pages are locked, so that copies run at the speed of the bus.
 * Locking pages is slow, slower than a copy to pages that are not locked. So it is done while
 * nothing moves, ahead of need if there is time, and locked pages stay locked. */
#ifndef NVSHARE_EXPLICIT_LOCKING_H
#define NVSHARE_EXPLICIT_LOCKING_H

#include <stdbool.h>

#include "moves/mover.h"

/* For the mover, while it has nothing to move: locks one extent, or gives back one that is not
 * needed. Returns whether there may be more to do. Extents that could not be locked work, but
 * slowly. */
bool locking_prepare(struct mover *mover);

#endif
