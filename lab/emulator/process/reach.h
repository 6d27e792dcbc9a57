/* The addresses that work reaches, judged when it is executed and not when it is queued.
 *
 * A GPU finds a missing mapping only when it accesses the address. Until then memory may be
 * unmapped (cuMemUnmap does not wait), or mapped. Only reserved addresses are kept here: all other
 * memory of the driver stays as long as the work queued on it, since freeing it waits. */
#ifndef NVSHARE_EMULATOR_REACH_H
#define NVSHARE_EMULATOR_REACH_H

#include "driver.h"

enum reach_access { REACH_READS = 1, REACH_WRITES = 2 };

struct reach {
    uint32_t count;
    struct reached {
        uint64_t address, bytes;
        uint32_t gpu; /* that accesses it */
        uint32_t access;
    } places[];
};

/* Callers of all of these hold the driver's lock. */

/* Adds a place to a list that begins as NULL, if it has to be judged. */
void reach_add(struct reach **reach, uint64_t address, uint64_t bytes, uint32_t gpu,
               enum reach_access access);

/* The same for an address that belongs to no memory, reserved or not. */
void reach_add_unknown(struct reach **reach, uint64_t address, uint64_t bytes, uint32_t gpu,
                       enum reach_access access);

/* Has the GPU access to memory at all places? If not, `where` gets the first address without it. */
bool reach_is_there(const struct reach *reach, uint64_t *where);

#endif
