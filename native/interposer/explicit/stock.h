/* Memory of a pool that the program has freed, kept for later allocations. An allocation in the
 * stream in which it was freed can have it at once, since that stream's order keeps the two users
 * apart. Others can have it when all work before the free is done. The caller holds the lock of the
 * pools. */
#ifndef NVSHARE_EXPLICIT_STOCK_H
#define NVSHARE_EXPLICIT_STOCK_H

#include <stdint.h>

#include "moment.h"
#include "region.h"

struct block {
    struct block *next;
    struct region *region;
    uint64_t offset;      /* in the region */
    uint64_t bytes;       /* that it takes */
    struct moment *freed; /* NULL: that has passed */
};

enum { STOCK_SIZES = 64 }; /* a list for each power of two, the earliest freed in front */

struct stock {
    uint64_t bytes;
    struct block *first[STOCK_SIZES], *last[STOCK_SIZES];
};

void stock_add(struct stock *stock, struct block *block);

/* Takes a block for an allocation that would take so many bytes. It is not much larger. `stream` is
 * the number of the stream that will use it. Returns NULL if there is none. */
struct block *stock_take(struct stock *stock, uint64_t bytes, uint64_t stream);

/* Takes out blocks that no work can use any more, until `keep` bytes are left. Returns them as a
 * list. */
struct block *stock_reduce(struct stock *stock, uint64_t keep);

#endif
