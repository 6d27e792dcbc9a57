/* The memory pools of this process. A pool keeps memory that was freed for the next allocation, as much as the
 * program has allowed it. That is taken from the GPU, and so not free to the program, though nobody has it allocated.
 *
 * Most pools are the driver's affair: how much they keep changes whenever it likes, and so it is asked, not counted.
 * Where memory moves explicitly, the program still has the driver's pools, but what it allocates from those of its
 * GPU is given by nvshare (explicit/pooled.h), which keeps what was freed itself. Such a pool has figures of both. */
#ifndef NVSHARE_POOLS_H
#define NVSHARE_POOLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "explicit/stock.h"
#include "lookup/driver.h"

/* One pool. Its record is never freed, since allocations refer to it; when nothing is left of it, it becomes that of
 * another pool. */
struct pool {
    CUmemoryPool
        handle; /* NULL: no pool, but what was freed in the order of a stream all the same */
    CUdevice device;
    bool is_hidden; /* it is being destroyed, or was */
    bool is_destroyed;
    bool is_drivers; /* the driver has allocated from it */
    bool is_served;  /* what is asked for may come from us */
    uint64_t threshold, most;
    /* Of what comes from us. */
    uint64_t count; /* of allocations */
    uint64_t used, used_high;
    uint64_t reserved, reserved_high;
    struct stock stock;
    struct pool *next;
};

/* Whether there are any at all: who uses none is not to pay for them. */
extern _Atomic bool pools_are_used;

/* Whether some of them keep more than they should: it is given back when the program waits for work the next time. */
extern _Atomic bool pools_have_excess;

/* While it is held no pool is destroyed, so that all of them can be asked. */
void pools_lock(void);
void pools_unlock(void);

/* With the lock held: all of them; the one by a handle, or NULL; and the one for what is from no pool. */
struct pool *pools_first(void);
struct pool *pools_find(CUmemoryPool handle);
struct pool *pools_nameless(CUdevice device);

/* The driver has allocated memory on this device, from the pool that has it, whichever that is. */
void pools_note(CUdevice device, CUdeviceptr pointer);

/* The program has made a pool. */
void pools_made(CUmemoryPool handle, const CUmemPoolProps *properties);

/* What is allocated from a pool comes from the driver from now on. */
void pools_stop_serving(CUmemoryPool handle);

/* The pool by a handle if it is one of a device's own memory, that nobody else can know of; or NULL. */
struct pool *pools_serving(CUdevice device, CUmemoryPool handle);

/* A pool is about to be destroyed: nobody asks for it any more. Returns NULL if it was not known. Afterwards it is said
 * whether it was: what is still allocated from it lives on. */
struct pool *pools_take(CUmemoryPool handle);
void pools_taken(struct pool *pool, bool is_destroyed);

/* Bytes on a device that the driver's pools keep beyond what is allocated from them. What ours keep counts as used. */
uint64_t pools_keep(CUdevice device);

/* The driver's pools on a device give back what they keep. */
void pools_trim(CUdevice device);

/* In a child after fork. */
void pools_forget(void);

#endif
