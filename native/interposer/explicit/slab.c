#include "slab.h"

#include <errno.h>
#include <stdlib.h>

static unsigned size_of(uint64_t bytes) {
    unsigned size = 0;
    while (((uint64_t)1 << (SLAB_SMALLEST_SHIFT + size)) < bytes)
        size++;
    return size;
}

uint64_t slab_place_bytes(uint64_t bytes) {
    return (uint64_t)1 << (SLAB_SMALLEST_SHIFT + size_of(bytes));
}

uint64_t slabs_need(const struct slabs *slabs, uint64_t bytes) {
    unsigned size = size_of(bytes);
    if (slabs->partial[size])
        return 0;
    uint64_t whole = slabs->bytes[size] - slabs->bytes[size] % REGION_PAGE;
    if (whole < REGION_PAGE)
        return REGION_PAGE;
    return whole < REGION_CHUNK ? whole : REGION_CHUNK;
}

static void link_partial(struct slabs *slabs, struct slab *slab) {
    struct slab **first = &slabs->partial[slab->size];
    slab->next = *first;
    slab->link = first;
    if (slab->next)
        slab->next->link = &slab->next;
    *first = slab;
}

static void unlink_partial(struct slab *slab) {
    *slab->link = slab->next;
    if (slab->next)
        slab->next->link = slab->link;
    slab->link = NULL;
}

int slabs_add(struct slabs *slabs, struct region *region, uint64_t bytes) {
    unsigned size = size_of(bytes);
    uint32_t places = (uint32_t)(region->bytes >> (SLAB_SMALLEST_SHIFT + size));
    struct slab *slab = calloc(1, sizeof *slab + (places + 63) / 64 * sizeof slab->taken[0]);
    if (!slab)
        return -ENOMEM;
    slab->region = region;
    slab->size = size;
    slab->places = places;
    region->slab = slab;
    slabs->bytes[size] += region->bytes;
    link_partial(slabs, slab);
    return 0;
}

static bool is_taken(const struct slab *slab, uint32_t place) {
    return slab->taken[place / 64] >> place % 64 & 1;
}

static void flip(struct slab *slab, uint32_t place) {
    slab->taken[place / 64] ^= (uint64_t)1 << place % 64;
}

uint64_t slabs_take(struct slabs *slabs, uint64_t bytes, struct region **region) {
    struct slab *slab = slabs->partial[size_of(bytes)];
    uint32_t place = slab->search_from;
    while (is_taken(slab, place))
        place = (place + 1) % slab->places;
    flip(slab, place);
    slab->search_from = (place + 1) % slab->places;
    if (++slab->used == slab->places)
        unlink_partial(slab);
    *region = slab->region;
    return (uint64_t)place << (SLAB_SMALLEST_SHIFT + slab->size);
}

uint64_t slab_place(const struct slab *slab, uint64_t offset) {
    return offset >> (SLAB_SMALLEST_SHIFT + slab->size) << (SLAB_SMALLEST_SHIFT + slab->size);
}

void slabs_remove(struct slabs *slabs, struct region *region) {
    struct slab *slab = region->slab;
    if (slab->link)
        unlink_partial(slab);
    slabs->bytes[slab->size] -= region->bytes;
    region->slab = NULL;
    free(slab);
}

bool slabs_give_back(struct slabs *slabs, struct region *region, uint64_t offset) {
    struct slab *slab = region->slab;
    uint32_t place = (uint32_t)(offset >> (SLAB_SMALLEST_SHIFT + slab->size));
    flip(slab, place);
    slab->search_from = place;
    if (slab->used-- == slab->places)
        link_partial(slabs, slab);
    if (slab->used)
        return false;
    slabs_remove(slabs, region);
    return true;
}
