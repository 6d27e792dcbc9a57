/* Handles that are numbers to the program, such as CUmemGenericAllocationHandle and CUtexObject: the
 * address of what they stand for, kept in a table so that a wrong number is found out. */
#ifndef NVSHARE_EMULATOR_HANDLE_H
#define NVSHARE_EMULATOR_HANDLE_H

#include <stdint.h>

#include "driver.h"
#include "regions.h"

/* All of these want the driver's lock. What a handle stands for begins with a uint32_t magic. */
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
