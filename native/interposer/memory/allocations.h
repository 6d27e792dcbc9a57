/* The ledgers of this process, and the steps that every allocation has in common. */
#ifndef NVSHARE_ALLOCATIONS_H
#define NVSHARE_ALLOCATIONS_H

#include "ledger.h"
#include "lookup/driver.h"

struct device;

struct allocations {
    struct ledger memory; /* by address: for cuMemFree and cuMemFreeAsync */
    struct ledger arrays; /* by handle */
    struct ledger
        physical; /* by handle: what cuMemCreate made, with a reference per handle and mapping */
    struct ledger mappings; /* by address: where physical memory is mapped */
};

extern struct allocations allocations;

/* An allocation in three steps: allocation_reserve, the driver's call, then allocation_record with
 * its result. */
CUresult allocation_reserve(struct device *device, uint64_t bytes, enum ledger_kind kind);

/* The same for memory that comes from a pool, which may have kept it. */
CUresult allocation_reserve_pooled(struct device *device, uint64_t bytes, enum ledger_kind kind);

/* The same for movable memory. If there is no room for it as explicit memory, it becomes managed
 * memory, and the kind is changed. */
CUresult allocation_reserve_movable(struct device *device, uint64_t bytes, enum ledger_kind *kind);

/* Enters the allocation, or takes the reservation back. `owner` is the context whose end frees it,
 * or 0. Returns the result. */
CUresult allocation_record(struct ledger *ledger, struct device *device, struct ledger_entry entry,
                           CUresult result);

/* After the driver has freed an entry taken from a ledger, or has not. Returns the result. */
CUresult allocation_freed(struct ledger *ledger, struct ledger_entry *taken, CUresult result);

/* Everything that a context owns, in two steps around the driver's call. */
struct allocation_context {
    struct ledger_entry *memory, *arrays;
};
struct allocation_context allocation_take_context(uint64_t context);
void allocation_context_gone(struct allocation_context taken);
void allocation_context_stays(struct allocation_context taken);

/* In a child after fork. */
void books_forget(void);

#endif
