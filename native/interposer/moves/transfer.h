/* Carries out one job of the mover: which pieces, in which order, and when there is room. Returns
 * when the job is done, or not wanted any more; nothing is in flight then. */
#ifndef NVSHARE_TRANSFER_H
#define NVSHARE_TRANSFER_H

#include "mover.h"

void transfer(struct mover *mover, enum mover_job job);

#endif
