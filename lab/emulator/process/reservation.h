/* Addresses that are set aside with no memory behind them: cuMemAddressReserve, and the places
 * where memory of other processes appears. The CPU cannot access such an address. */
#ifndef NVSHARE_EMULATOR_RESERVATION_H
#define NVSHARE_EMULATOR_RESERVATION_H

#include <stdint.h>

#include "arrays.h"
#include "driver.h"

struct reservation {
    uint64_t address, bytes;
    uint64_t mapping, mapping_bytes; /* as the operating system gave them, before alignment */
    struct arrays arrays; /* if there are several: the beginnings that kernels were given */
};

/* Callers hold the driver's lock. `alignment` is a power of two, `hint` may be 0. */
CUresult reservation_create(uint64_t bytes, uint64_t alignment, uint64_t hint,
                            struct reservation **out);
void reservation_release(struct reservation *reservation);

/* The reservation that contains an address, or NULL. */
struct reservation *reservation_find(uint64_t address);

/* Is every byte inside one reservation? */
bool reservation_covers(uint64_t address, uint64_t bytes);

#endif
