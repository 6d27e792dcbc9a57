/* Moves chunks of the explicit way between the GPU and the host: what the mover does for such memory. */
#ifndef NVSHARE_EXPLICIT_CARRY_H
#define NVSHARE_EXPLICIT_CARRY_H

#include "moves/mover.h"

/* Carries a job out, as far as it is about memory of the explicit way, until there is another order. */
void carry(struct mover *mover, enum mover_job job);

#endif
