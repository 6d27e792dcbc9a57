/* The addresses that work reaches, judged when it is executed and not when it is queued.
 *
 * A GPU finds out that there is nothing at an address when it gets there: memory may be unmapped before
 * that (cuMemUnmap waits for nobody), or mapped. Only reserved addresses are kept here: whatever else
 * the driver gives out stays as long as work that was queued on it, since freeing it waits. */
#ifndef NVSHARE_EMULATOR_REACH_H
#define NVSHARE_EMULATOR_REACH_H

#include "driver.h"

enum reach_access { REACH_READS = 1, REACH_WRITES = 2 };

struct reach {
    uint32_t count;
    struct reached {
        uint64_t address, bytes;
        uint32_t gpu; /* that goes there */
        uint32_t access;
    } places[];
};

/* All of these want the driver's lock. */

/* Adds a place to a list that begins as NULL, if it is one that has to be judged. */
void reach_add(struct reach **reach, uint64_t address, uint64_t bytes, uint32_t gpu,
               enum reach_access access);

/* The same for an address that is in nobody's memory, reserved or not. */
void reach_add_unknown(struct reach **reach, uint64_t address, uint64_t bytes, uint32_t gpu,
                       enum reach_access access);

/* Is there memory everywhere, which the GPU may reach? The first address at which there is none goes
 * to `where`. */
bool reach_is_there(const struct reach *reach, uint64_t *where);

#endif
