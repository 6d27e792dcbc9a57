/* The memory pools of this process. A pool keeps freed memory for the next allocation, as much as
 * the program allows. That memory takes room on the GPU, so it is not free to the program although
 * it is not allocated.
 *
 * Most pools are left to the driver. It changes at any time how much they keep, so it is asked, and
 * nothing is counted. Where memory is explicit, the program still has the driver's pools, but
 * nvshare serves allocations from the pools of its GPU (explicit/pooled.h) and keeps the freed
 * memory itself. Such a pool has figures of both. */
#ifndef NVSHARE_POOLS_H
#define NVSHARE_POOLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "explicit/stock.h"
#include "lookup/driver.h"

/* One pool. Its record is never freed, since allocations refer to it; when nothing is left of it,
 * another pool reuses the record. */
struct pool {
    CUmemoryPool
        handle; /* NULL: no pool, but what was freed in the order of a stream all the same */
    CUdevice device;
    bool is_hidden; /* it is being destroyed, or was */
    bool is_destroyed;
    bool is_drivers; /* the driver has allocated from it */
    bool is_served;  /* we may serve its allocations */
    uint64_t threshold, most;
    /* Of what we serve. */
    uint64_t count; /* of allocations */
    uint64_t used, used_high;
    uint64_t reserved, reserved_high;
    struct stock stock;
    struct pool *next;
};

/* Whether there are any pools: programs that use none do not pay for them. */
extern _Atomic bool pools_are_used;

/* Whether some pools keep too much: it is given back when the program next waits for work. */
extern _Atomic bool pools_have_excess;

/* While it is held no pool is destroyed, so all of them can be queried. */
void pools_lock(void);
void pools_unlock(void);

/* With the lock held: all pools; the pool of a handle, or NULL; and the one for memory of no
 * pool. */
struct pool *pools_first(void);
struct pool *pools_find(CUmemoryPool handle);
struct pool *pools_nameless(CUdevice device);

/* The driver has allocated memory on this device, from the pool that the pointer tells. */
void pools_note(CUdevice device, CUdeviceptr pointer);

/* The program has made a pool. */
void pools_made(CUmemoryPool handle, const CUmemPoolProps *properties);

/* From now on the driver serves allocations from this pool. */
void pools_stop_serving(CUmemoryPool handle);

/* The pool of a handle if it is of the device's own memory and cannot be shared; or NULL. */
struct pool *pools_serving(CUdevice device, CUmemoryPool handle);

/* A pool is about to be destroyed: it is hidden. Returns NULL if it was not known. pools_taken
 * tells whether it was destroyed: memory still allocated from it lives on. */
struct pool *pools_take(CUmemoryPool handle);
void pools_taken(struct pool *pool, bool is_destroyed);

/* Bytes that the driver's pools on a device keep unused. What our pools keep counts as used. */
uint64_t pools_keep(CUdevice device);

/* Makes the driver's pools on a device give back what they keep. */
void pools_trim(CUdevice device);

/* In a child after fork. */
void pools_forget(void);

#endif
