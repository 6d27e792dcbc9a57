/* Room on a GPU for memory that cannot be evicted. */
#ifndef NVSHARE_EMULATOR_ROOM_H
#define NVSHARE_EMULATOR_ROOM_H

#include "driver.h"

enum room_for { ROOM_FOR_PLAIN, ROOM_FOR_CODE, ROOM_FOR_CONTEXT };

/* Takes room. The calling thread waits without the node's lock: for the scrubber, if the free
 * memory is not zero yet, and then until evicted memory is on the host (published driver:
 * pmaAllocatePages, uvm_pmm_gpu_pma_evict_pages). `bytes` of a context are the profile's. */
CUresult room_take(uint32_t gpu, enum room_for what, uint64_t bytes);
void room_give_plain(uint32_t gpu, uint64_t bytes);

#endif
