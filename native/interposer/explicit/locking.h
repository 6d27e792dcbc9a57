/* The driver's part of extents: their pages are locked, so that copies go at the speed of the bus. To lock pages is slow,
 * slower than a copy to pages that are not locked. So it is done while nothing moves, ahead of need if there is time, and
 * what is locked stays so. */
#ifndef NVSHARE_EXPLICIT_LOCKING_H
#define NVSHARE_EXPLICIT_LOCKING_H

#include <stdbool.h>

#include "moves/mover.h"

/* For the mover, while it has nothing to move: locks one extent, or gives one back that is not needed. Returns whether
 * there may be more to do. What could not be locked works, slowly. */
bool locking_prepare(struct mover *mover);

#endif
