/* Stream-ordered explicit memory: cuMemAllocAsync and its kin, on pools that no other process knows
 * of (pools.h).
 *
 * Memory is there when the call returns, which is more than the program asks for. Freed memory
 * stays with its pool as a block (stock.h), up to the pool's threshold. The excess is given back
 * when the program next waits for its work, as with a driver's pool. At the end of a turn all of it
 * is given back. Until then it takes room on the GPU and so counts as used, but no allocation is
 * refused for it. */
#ifndef NVSHARE_EXPLICIT_POOLED_H
#define NVSHARE_EXPLICIT_POOLED_H

#include "lookup/driver.h"
#include "memory/ledger.h"
#include "memory/pools.h"

struct device;

/* How long an allocation waits for memory that streams have yet to free. */
#define POOLED_PATIENCE CLOCK_MS(5000)

/* Takes a block that the pool keeps, for an allocation of so many bytes that is to be used in this
 * stream first; or NULL. The block is not counted until it is used or put back. */
struct block *pooled_take(struct device *device, struct pool *pool, uint64_t bytes,
                          CUstream stream);
void pooled_put_back(struct device *device, struct pool *pool, struct block *block);

/* Memory from the entry's pool: the block that was taken for it, or new memory if that is NULL. */
CUresult pooled_allocate(struct device *device, struct ledger_entry *entry, struct block *block);

/* Frees memory of a pool, or any other explicit memory, when the stream has come so far. */
CUresult pooled_free(struct device *device, const struct ledger_entry *entry, CUstream stream);

/* To be called when freed memory is not counted as allocated any more: then it counts as kept. */
void pooled_count(struct device *device);

/* Frees memory of a pool when the work of the calling thread's context is done, as cuMemFree
 * does. */
CUresult pooled_free_now(struct device *device, const struct ledger_entry *entry);

/* Gives back unused blocks of a pool, until `keep` bytes are reserved. */
void pooled_trim(struct pool *pool, uint64_t keep);

/* Makes all pools of a device give back what they can. Returns how many bytes that was; *is_pending
 * says whether there will be more when work is done. */
uint64_t pooled_make_room(struct device *device, bool *is_pending);

/* The same, and if nothing was free, waits for work that is about to free memory. Returns whether
 * anything was given back. */
bool pooled_make_room_patiently(struct device *device);

/* The program has waited for work: pools give back what exceeds their thresholds. */
void pooled_give_back_excess(void);

#endif
