/* Explicit memory that is allocated and freed in the order of a stream: cuMemAllocAsync and its kin, on pools that
 * nobody else knows of (pools.h).
 *
 * Memory is there when the call returns, which is more than is asked for. What is freed stays with its pool as a
 * block (stock.h), as much as the pool may keep, and is given back when the program waits for its work the next time:
 * so it is with a driver's pool. At the end of a turn all of it is. Until then it is on the GPU and in others' way, and so
 * counts as used; but nothing is refused for it. */
#ifndef NVSHARE_EXPLICIT_POOLED_H
#define NVSHARE_EXPLICIT_POOLED_H

#include "lookup/driver.h"
#include "memory/ledger.h"
#include "memory/pools.h"

struct device;

/* How long an allocation waits for what streams have still to free. */
#define POOLED_PATIENCE CLOCK_MS(5000)

/* What a pool keeps, for an allocation of so many bytes that is to be used in this stream first; or NULL. It is out of the
 * count until it is used or put back. */
struct block *pooled_take(struct device *device, struct pool *pool, uint64_t bytes,
                          CUstream stream);
void pooled_put_back(struct device *device, struct pool *pool, struct block *block);

/* Memory from the entry's pool: the block that was taken for it, or new memory if that is NULL. */
CUresult pooled_allocate(struct device *device, struct ledger_entry *entry, struct block *block);

/* Frees memory of a pool, or any other explicit memory, when the stream has come so far. */
CUresult pooled_free(struct device *device, const struct ledger_entry *entry, CUstream stream);

/* To be called when freed memory is not counted as allocated any more: it counts as kept. */
void pooled_count(struct device *device);

/* Frees memory of a pool when the work of the calling thread's context is done, as cuMemFree does. There is one. */
CUresult pooled_free_now(struct device *device, const struct ledger_entry *entry);

/* A pool gives back what it keeps, as far as nobody can be using it any more, until so many bytes are reserved. */
void pooled_trim(struct pool *pool, uint64_t keep);

/* All pools of a device give back what they can. Returns how much that was; *is_pending says whether there will be
 * more when work is done. */
uint64_t pooled_make_room(struct device *device, bool *is_pending);

/* The same, and waits for work that is about to free something if there is nothing else. Returns whether there was any. */
bool pooled_make_room_patiently(struct device *device);

/* The program has waited for work: no pool keeps more than it may. */
void pooled_give_back_excess(void);

#endif
