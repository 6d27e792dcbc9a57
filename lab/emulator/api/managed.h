/* Ranges of managed memory and places to put them, for all functions that take them. */
#ifndef NVSHARE_EMULATOR_MANAGED_H
#define NVSHARE_EMULATOR_MANAGED_H

#include "../process/memory.h"

/* INVALID_VALUE if the range is empty or has a byte that is not managed memory. */
CUresult managed_check(CUdeviceptr address, size_t bytes);

/* A place (a location of model/state.h) by its CUdevice, where CU_DEVICE_CPU means the host, or by
 * its CUmemLocation. The NUMA nodes of the host are one place here. */
CUresult location_of_device(CUdevice device, uint8_t *out);
CUresult location_of(CUmemLocation location, uint8_t *out);

/* The blocks of a range: the advice of small allocations is that of the block they share. */
struct block_span {
    uint32_t first, count;
};
struct block_span managed_blocks(CUdeviceptr address, size_t bytes);

#endif
