/* Addresses that are set aside with no memory behind them. */
#include "reservation.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "regions.h"

static uint64_t map_nothing(uint64_t hint, uint64_t bytes, int flags) {
    void *at = mmap((void *)(uintptr_t)hint, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return at == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)at;
}

/* A hint is used if the place is free, and otherwise ignored. */
static bool take_addresses(struct reservation *new, uint64_t alignment, uint64_t hint) {
    if (hint && hint % alignment == 0) {
        new->mapping = map_nothing(hint, new->bytes, MAP_FIXED_NOREPLACE);
        if (new->mapping &&new->mapping != hint) { /* kernels before 4.17 ignore the flag */
            munmap((void *)(uintptr_t)new->mapping, new->bytes);
            new->mapping = 0;
        }
        new->mapping_bytes = new->bytes;
    }
    if (!new->mapping) {
        new->mapping_bytes = new->bytes + alignment;
        new->mapping = map_nothing(0, new->mapping_bytes, 0);
    }
    new->address = (new->mapping + alignment - 1) & ~(alignment - 1);
    return new->mapping != 0;
}

static bool note(struct reservation *new) {
    if (!driver->reservations)
        driver->reservations = regions_create();
    return driver->reservations &&
           regions_insert(driver->reservations, new->address, new->bytes, new);
}

CUresult reservation_create(uint64_t bytes, uint64_t alignment, uint64_t hint,
                            struct reservation **out) {
    struct reservation *new = calloc(1, sizeof *new);
    if (!new)
        return CUDA_ERROR_OUT_OF_MEMORY;
    new->bytes = bytes;
    if (bytes + alignment < bytes || !take_addresses(new, alignment, hint)) {
        free(new);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!note(new)) {
        munmap((void *)(uintptr_t)new->mapping, new->mapping_bytes);
        free(new);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = new;
    return CUDA_SUCCESS;
}

void reservation_release(struct reservation *reservation) {
    regions_remove(driver->reservations, reservation->address);
    munmap((void *)(uintptr_t)reservation->mapping, reservation->mapping_bytes);
    arrays_free(&reservation->arrays);
    free(reservation);
}

struct reservation *reservation_find(uint64_t address) {
    return driver->reservations ? regions_find(driver->reservations, address) : NULL;
}

bool reservation_covers(uint64_t address, uint64_t bytes) {
    const struct reservation *found = reservation_find(address);
    return found && bytes <= found->bytes - (address - found->address);
}
