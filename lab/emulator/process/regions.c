/* A map from addresses to objects: an array in the order of addresses. */
#include "regions.h"

#include <stdlib.h>
#include <string.h>

struct region {
    uint64_t address, bytes;
    void *owner;
};

struct regions {
    struct region *list;
    size_t count, capacity;
};

struct regions *regions_create(void) {
    return calloc(1, sizeof(struct regions));
}

/* The number of regions that begin at or below an address. */
static size_t begun_by(const struct regions *regions, uint64_t address) {
    size_t low = 0, high = regions->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (regions->list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool grow(struct regions *regions) {
    if (regions->count < regions->capacity)
        return true;
    size_t capacity = regions->capacity ? regions->capacity * 2 : 64;
    struct region *list = realloc(regions->list, capacity * sizeof *list);
    if (!list)
        return false;
    regions->list = list;
    regions->capacity = capacity;
    return true;
}

bool regions_insert(struct regions *regions, uint64_t address, uint64_t bytes, void *owner) {
    size_t at = begun_by(regions, address);
    const struct region *before = at ? &regions->list[at - 1] : NULL;
    if (before && address - before->address < before->bytes)
        return false;
    if (at < regions->count && regions->list[at].address - address < bytes)
        return false;
    if (!grow(regions))
        return false;
    memmove(&regions->list[at + 1], &regions->list[at],
            (regions->count - at) * sizeof regions->list[0]);
    regions->list[at] = (struct region){address, bytes, owner};
    regions->count++;
    return true;
}

void regions_remove(struct regions *regions, uint64_t address) {
    size_t at = begun_by(regions, address);
    if (!at || regions->list[at - 1].address != address)
        return;
    memmove(&regions->list[at - 1], &regions->list[at],
            (regions->count - at) * sizeof regions->list[0]);
    regions->count--;
}

void *regions_find(const struct regions *regions, uint64_t address) {
    size_t at = begun_by(regions, address);
    if (!at || address - regions->list[at - 1].address >= regions->list[at - 1].bytes)
        return NULL;
    return regions->list[at - 1].owner;
}
