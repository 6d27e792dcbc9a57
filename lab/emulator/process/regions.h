/* A map from addresses to objects, for memory outside the driver's own arenas. */
#ifndef NVSHARE_EMULATOR_REGIONS_H
#define NVSHARE_EMULATOR_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct regions;
struct regions *regions_create(void);

/* False if it overlaps another or memory runs out. */
bool regions_insert(struct regions *regions, uint64_t address, uint64_t bytes, void *owner);
void regions_remove(struct regions *regions, uint64_t address);
void *regions_find(const struct regions *regions, uint64_t address);

#endif
