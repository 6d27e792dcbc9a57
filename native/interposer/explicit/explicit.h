/* Explicit memory: cuMemAlloc gives the program physical memory at fixed addresses, which nvshare
 * moves itself, by copying. Unlike managed memory it does not come back when it is used: memory
 * that is away must not be touched. So memory leaves only while the gate is closed, no thread is
 * inside and nothing is in flight. The gate opens only when all of it is back (explicit_is_whole).
 *
 *   region.h   the records: addresses, chunks, and where the bytes of each chunk are
 *   slab.h     small allocations
 *   pooled.h   stream-ordered allocations; stock.h has those that were freed
 *   physical.h  the program's own handles
 *   answers.h  what the program is told about all of these
 *   backing.h  physical memory for a chunk
 *   extent.h   host memory, made by the daemon; locking.h locks its pages ahead; slot.h is the part
 *              that a chunk has of it
 *   carry.h    moves chunks, for the mover; convoy.h has the chunks on their way */
#ifndef NVSHARE_EXPLICIT_H
#define NVSHARE_EXPLICIT_H

#include "lookup/driver.h"
#include "region.h"
#include "slab.h"

struct device;
struct block;

/* Memory that was freed during a capture, when it is impossible to wait for work that may use
 * it. */
struct lingering {
    struct region *region;
    uint64_t offset;
    struct lingering *next;
};

struct explicit {
    struct regions regions; /* and the lock of everything here */
    struct slabs slabs;
    struct extents extents;
    struct lingering *lingering;
};

void explicit_init(struct explicit *explicit, struct account *account);

static inline void explicit_lock(struct explicit *explicit) {
    pthread_mutex_lock(&explicit->regions.lock);
}

static inline void explicit_unlock(struct explicit *explicit) {
    pthread_mutex_unlock(&explicit->regions.lock);
}

/* Allocates memory on a device: sets address and region of the ledger's entry. With an open gate
 * the memory is there on return; behind a closed one it comes before the gate opens. */
CUresult explicit_allocate(struct device *device, struct ledger_entry *entry);

/* The same for a stream-ordered allocation, which a driver never refuses for a capture
 * elsewhere. */
CUresult explicit_provide(struct device *device, struct ledger_entry *entry);

/* What an allocation of so many bytes takes of the GPU; and what one has taken, which may be a
 * little more if it reuses a block. */
uint64_t explicit_takes(uint64_t bytes);
uint64_t explicit_taken(struct device *device, const struct ledger_entry *entry);

/* Freed memory: is kept as a block (stock.h); is used for another allocation, as by
 * explicit_provide; or is freed permanently. */
void explicit_keep(struct device *device, const struct ledger_entry *entry, struct block *block);
CUresult explicit_use_again(struct device *device, struct ledger_entry *entry,
                            const struct block *block);
void explicit_give_up(struct device *device, const struct block *block);

/* Frees it when the work of the entry's context is done, as a driver does. */
CUresult explicit_free(struct device *device, const struct ledger_entry *entry);

/* Frees it at once: its context is gone, and no work can use it any more. */
void explicit_is_gone(struct device *device, const struct ledger_entry *entry);

/* For physical.c. Brings a region in before any call can use it; and frees one, with the lock
 * held. */
CUresult explicit_bring(struct device *device, struct region *region);
void explicit_destroy(struct device *device, struct region *region);

/* Frees what lingers. No work may be in flight. */
void explicit_bury(struct device *device);

/* The program uses another GPU as well. Work and copies there can reach this memory past its gate.
 * So from now on it stays, and the other GPU may use it. Later allocations are managed memory. */
void explicit_stay(struct device *device, CUdevice other);

/* Whether everything is on the GPU. If so, the gate may open from now on. */
bool explicit_is_whole(struct device *device);

#endif
