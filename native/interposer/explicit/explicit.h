/* The explicit way: what a program asks for by cuMemAlloc is physical memory at addresses of its own, which nvshare
 * moves itself, by copying. In contrast to managed memory nothing comes by being used: what is away must not be touched.
 * So memory leaves only while the gate is closed, nobody is inside and nothing is in flight; and the gate opens only
 * when all of it is there (explicit_is_whole).
 *
 *   region.h   which addresses there are, in chunks, and where the bytes of each are
 *   slab.h     small allocations
 *   pooled.h   allocations in the order of a stream; stock.h has those that were freed so
 *   holding.h  handles of the program's own
 *   answers.h  what the program is told about all of these
 *   backing.h  physical memory for a chunk
 *   extent.h   host memory, made by the daemon; locking.h locks its pages ahead; slot.h is that of a chunk
 *   carry.h    moves chunks: the mover's work; convoy.h has those on their way */
#ifndef NVSHARE_EXPLICIT_H
#define NVSHARE_EXPLICIT_H

#include "lookup/driver.h"
#include "region.h"
#include "slab.h"

struct device;
struct block;

/* What was freed in the middle of a capture, when nobody can wait for work that may still use it. */
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

/* Memory on a device, for the entry of the ledger: its address and region. With an open gate it is there when this
 * returns; behind a closed one it comes before the gate opens. */
CUresult explicit_allocate(struct device *device, struct ledger_entry *entry);

/* The same for an allocation in the order of a stream, which a driver never refuses for a capture elsewhere. */
CUresult explicit_provide(struct device *device, struct ledger_entry *entry);

/* What an allocation of so many bytes takes of the GPU; and what one has taken, which may be a little more if it was
 * another's before. */
uint64_t explicit_takes(uint64_t bytes);
uint64_t explicit_taken(struct device *device, const struct ledger_entry *entry);

/* Memory that was freed is kept as a block (stock.h); is another allocation's now, as explicit_provide; or is freed for
 * good. */
void explicit_keep(struct device *device, const struct ledger_entry *entry, struct block *block);
CUresult explicit_use_again(struct device *device, struct ledger_entry *entry,
                            const struct block *block);
void explicit_give_up(struct device *device, const struct block *block);

/* Frees it, when the work of the calling thread's context is done, as a driver does. */
CUresult explicit_free(struct device *device, const struct ledger_entry *entry);

/* Its context is gone, and no work can use it any more. */
void explicit_is_gone(struct device *device, const struct ledger_entry *entry);

/* For holding.c. Sees to it that a region is there before anybody can use it; and frees one, with the lock held. */
CUresult explicit_bring(struct device *device, struct region *region);
void explicit_destroy(struct device *device, struct region *region);

/* No work is in flight: what lingers is freed. */
void explicit_bury(struct device *device);

/* The program uses another GPU as well. Work there, and copies, can reach this memory past its gate: so from now on it
 * stays, and is for the other one to use. What is allocated next is managed memory. */
void explicit_stay(struct device *device, CUdevice other);

/* Everything is on the GPU: if so, the gate may open from now on. */
bool explicit_is_whole(struct device *device);

#endif
