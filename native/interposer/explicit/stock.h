/* Memory of a pool that the program has freed, and that is kept for those who ask next. Whoever asks in the stream in
 * which it was freed can have it at once, since that stream's order keeps the two users apart; others when all that
 * came before the free is done. The caller holds the lock of the pools. */
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
    struct moment *freed; /* NULL: that is over */
};

enum { STOCK_SIZES = 64 }; /* a list for each power of two, those that were freed first in front */

struct stock {
    uint64_t bytes;
    struct block *first[STOCK_SIZES], *last[STOCK_SIZES];
};

void stock_add(struct stock *stock, struct block *block);

/* A block for an allocation that would take so many bytes, and not much larger. `stream` is the number of the one
 * that it is for. Returns NULL if there is none. */
struct block *stock_take(struct stock *stock, uint64_t bytes, uint64_t stream);

/* Takes blocks out that nobody can be using any more, until `keep` bytes are left. Returns them as a list. */
struct block *stock_reduce(struct stock *stock, uint64_t keep);

#endif
