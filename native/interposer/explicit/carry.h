/* Moves explicit memory between the GPU and the host, chunk by chunk, for the mover. */
#ifndef NVSHARE_EXPLICIT_CARRY_H
#define NVSHARE_EXPLICIT_CARRY_H

#include "moves/mover.h"

/* Carries out a job, as far as it concerns explicit memory, until there is another order. */
void carry(struct mover *mover, enum mover_job job);

#endif
