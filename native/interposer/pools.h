/* The memory pools that this process has allocated from. A pool keeps memory that was freed for the next
 * allocation, as much as the program has allowed it. That is taken from the GPU, and so not free to the program,
 * though nobody has it allocated. How much it is changes whenever the driver likes: it is asked, not counted. */
#ifndef NVSHARE_POOLS_H
#define NVSHARE_POOLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver.h"

/* Whether there are any at all: who uses none is not to pay for them. */
extern _Atomic bool pools_are_used;

/* Memory was allocated on this device from the pool that has it, whichever that is. */
void pools_note(CUdevice device, CUdeviceptr pointer);

/* A pool is about to be destroyed: nobody asks for it any more. Returns the device that it was noted for, or -1; with
 * that it can be put back, if it stays after all. */
CUdevice pools_take(CUmemoryPool pool);
void pools_put_back(CUdevice device, CUmemoryPool pool);

/* Bytes on a device that pools keep beyond what is allocated from them. */
uint64_t pools_keep(CUdevice device);

/* In a child after fork. */
void pools_forget(void);

#endif
