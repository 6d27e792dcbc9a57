/* Addresses of regions: mappings come and go, and are found. */
#include <stdlib.h>
#include <string.h>

#include "region.h"

/* How many mappings begin at or before an address. */
static size_t rank(const struct regions *regions, uint64_t address) {
    size_t low = 0, high = regions->mapping_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (regions->sorted[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct mapping *regions_find(const struct regions *regions, uint64_t address) {
    size_t before = rank(regions, address);
    struct mapping *mapping = before ? regions->sorted[before - 1] : NULL;
    return mapping && address - mapping->address < mapping->bytes ? mapping : NULL;
}

static bool make_room(struct regions *regions) {
    if (regions->mapping_count < regions->capacity)
        return true;
    size_t capacity = regions->capacity ? 2 * regions->capacity : 64;
    struct mapping **sorted = realloc(regions->sorted, capacity * sizeof(struct mapping *));
    if (!sorted)
        return false;
    regions->sorted = sorted;
    regions->capacity = capacity;
    return true;
}

struct mapping *mapping_add(struct regions *regions, const struct mapping *mapping) {
    struct mapping *new = make_room(regions) ? malloc(sizeof *new) : NULL;
    if (!new)
        return NULL;
    *new = *mapping;
    new->next = new->region->mappings;
    new->region->mappings = new;
    size_t at = rank(regions, new->address), behind = regions->mapping_count++ - at;
    memmove(&regions->sorted[at + 1], &regions->sorted[at], behind * sizeof(struct mapping *));
    regions->sorted[at] = new;
    return new;
}

void mapping_drop(struct regions *regions, struct mapping *mapping) {
    struct mapping **link = &mapping->region->mappings;
    while (*link != mapping)
        link = &(*link)->next;
    *link = mapping->next;
    size_t at = rank(regions, mapping->address), behind = regions->mapping_count-- - at;
    memmove(&regions->sorted[at - 1], &regions->sorted[at], behind * sizeof(struct mapping *));
    free(mapping);
}

bool mapping_of_chunk(const struct mapping *mapping, const struct chunk *chunk, uint64_t *address,
                      uint64_t *offset, uint64_t *bytes) {
    uint64_t begin = mapping->offset > chunk->offset ? mapping->offset : chunk->offset;
    uint64_t mapped = mapping->offset + mapping->bytes, whole = chunk->offset + chunk->bytes;
    uint64_t end = mapped < whole ? mapped : whole;
    if (begin >= end)
        return false;
    *address = mapping->address + (begin - mapping->offset);
    *offset = begin - chunk->offset;
    *bytes = end - begin;
    return true;
}
