/* Waiting for memory that has to leave the GPU first. */
#ifndef NVSHARE_EMULATOR_ROOM_H
#define NVSHARE_EMULATOR_ROOM_H

#include "../model/residency.h"
#include "driver.h"

/* Lets the calling thread wait until what it has evicted is on the host, with no lock of the node
 * held: allocating pinned memory waits for its evictions (published driver:
 * uvm_pmm_gpu_pma_evict_pages). */
void room_wait(uint32_t gpu, const struct room *room);

#endif
