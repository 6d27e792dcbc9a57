/* Handles that are numbers to the program, such as CUmemGenericAllocationHandle and CUtexObject:
 * the address of an object. A table of the objects detects wrong numbers. */
#ifndef NVSHARE_EMULATOR_HANDLE_H
#define NVSHARE_EMULATOR_HANDLE_H

#include <stdint.h>

#include "driver.h"
#include "regions.h"

/* Callers of all of these hold the driver's lock. The object begins with a uint32_t magic. */
static inline bool handle_note(void *thing) {
    if (!driver->handles)
        driver->handles = regions_create();
    return driver->handles && regions_insert(driver->handles, (uint64_t)(uintptr_t)thing, 1, thing);
}

static inline void handle_forget(void *thing) {
    regions_remove(driver->handles, (uint64_t)(uintptr_t)thing);
}

static inline void *handle_find(uint64_t handle, uint32_t magic) {
    uint32_t *thing = driver->handles ? regions_find(driver->handles, handle) : NULL;
    return thing && *thing == magic ? thing : NULL;
}

#endif
