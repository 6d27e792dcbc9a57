/* Small allocations, many to a region. Plain C: it knows regions, and calls no driver. The caller
 * holds the lock of the regions.
 *
 * A region holds places of one size. The more there is of a size, the larger is its next region: a
 * program with a few small buffers takes little, and one with very many does not need very many
 * handles. */
#ifndef NVSHARE_EXPLICIT_SLAB_H
#define NVSHARE_EXPLICIT_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "region.h"

enum {
    SLAB_SMALLEST_SHIFT = 9, /* 512 bytes, which is also how drivers align allocations */
    SLAB_SIZES = 12,         /* up to 1 MiB; anything larger has a region to itself */
};
#define SLAB_MOST ((uint64_t)1 << (SLAB_SMALLEST_SHIFT + SLAB_SIZES - 1))

struct slab {
    struct region *region;
    struct slab *next, **link; /* slabs of the same size, with a free place */
    unsigned size;             /* its index */
    uint32_t places, used, search_from;
    uint64_t taken[]; /* a bit per place */
};

struct slabs {
    struct slab *partial[SLAB_SIZES];
    uint64_t bytes[SLAB_SIZES]; /* in all regions of a size */
};

/* How large a region the next allocation of so many bytes needs; 0: there is a place for it. */
uint64_t slabs_need(const struct slabs *slabs, uint64_t bytes);

/* Turns a region into a slab for allocations of this size. Returns 0 or -ENOMEM. */
int slabs_add(struct slabs *slabs, struct region *region, uint64_t bytes);

/* Takes a place. Returns its offset in the region; slabs_need has said that there is one. */
uint64_t slabs_take(struct slabs *slabs, uint64_t bytes, struct region **region);

/* Gives a place back. Returns whether it was the last one: then the region is no slab any more. */
bool slabs_give_back(struct slabs *slabs, struct region *region, uint64_t offset);

/* The size of the place for an allocation of so many bytes. */
uint64_t slab_place_bytes(uint64_t bytes);

/* Where the place of an offset begins. */
uint64_t slab_place(const struct slab *slab, uint64_t offset);

/* Takes a region out in which no place was ever taken. */
void slabs_remove(struct slabs *slabs, struct region *region);

#endif
