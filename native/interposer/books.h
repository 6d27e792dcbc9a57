/* The ledgers of this process, and the steps that every allocation has in common. */
#ifndef NVSHARE_BOOKS_H
#define NVSHARE_BOOKS_H

#include "driver.h"
#include "ledger.h"

struct device;

struct books {
    struct ledger memory; /* by address: what cuMemFree and cuMemFreeAsync take */
    struct ledger arrays; /* by handle */
    struct ledger
        physical; /* by handle: what cuMemCreate made, with a reference per handle and mapping */
    struct ledger mappings; /* by address: where physical memory is mapped */
};

extern struct books books;

/* An allocation in three steps: book_reserve, the driver's call, then book_settle with its result. */
CUresult book_reserve(struct device *device, uint64_t bytes, enum ledger_kind kind);

/* The same for memory that comes from a pool, which may have kept it. */
CUresult book_reserve_pooled(struct device *device, uint64_t bytes, enum ledger_kind kind);

/* The same for memory that may be managed memory if it finds no room as explicit memory: then the kind is changed. */
CUresult book_reserve_movable(struct device *device, uint64_t bytes, enum ledger_kind *kind);

/* Enters the allocation, or takes the reservation back. `owner` is the context that takes it along when
 * it is destroyed, or 0. Returns the result. */
CUresult book_settle(struct ledger *ledger, struct device *device, struct ledger_entry entry,
                     CUresult result);

/* After the driver has freed what was taken from a ledger, or has not. Returns the result. */
CUresult book_freed(struct ledger *ledger, struct ledger_entry *taken, CUresult result);

/* Everything that goes with a context, in two steps around the driver's call. */
struct book_context {
    struct ledger_entry *memory, *arrays;
};
struct book_context book_take_context(uint64_t context);
void book_context_gone(struct book_context taken);
void book_context_stays(struct book_context taken);

/* In a child after fork. */
void books_forget(void);

#endif
