/* A chunk's place on the host: pages of extents. The chunk has one while its bytes are on the host,
 * and after they have come back until the program may have changed them. */
#ifndef NVSHARE_EXPLICIT_SLOT_H
#define NVSHARE_EXPLICIT_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "extent.h"

struct slot_piece {
    struct extent *extent;
    unsigned page, pages;
};

struct slot {
    struct slot_piece *pieces; /* NULL: none */
    unsigned count;
};

static inline bool slot_is_taken(const struct slot *slot) {
    return slot->pieces != 0;
}

/* Gets a slot, if the chunk has none. All of it or nothing. Returns 0, -EAGAIN if there are not
 * enough pages, or -ENOMEM. */
int slot_take(struct slot *slot, struct extents *extents, uint64_t bytes);
void slot_give_back(struct slot *slot, struct extents *extents);

static inline char *slot_piece_at(const struct slot_piece *piece) {
    return piece->extent->at + piece->page * EXTENT_PAGE;
}

static inline uint64_t slot_piece_bytes(const struct slot_piece *piece) {
    return piece->pages * EXTENT_PAGE;
}

#endif
