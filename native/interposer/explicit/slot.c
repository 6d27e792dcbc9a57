#include "slot.h"

#include <errno.h>
#include <stdlib.h>

/* A run of pages, as bits of struct extent. */
static uint64_t run(unsigned page, unsigned pages) {
    uint64_t ones = pages < EXTENT_PAGES_MAX ? ((uint64_t)1 << pages) - 1 : UINT64_MAX;
    return ones << page;
}

static bool is_free(const struct extent *extent, unsigned page, unsigned pages) {
    return page + pages <= extent->pages && !(extent->taken & run(page, pages));
}

/* The next free run from a page on, of `most` pages at the most. */
static unsigned free_run(const struct extent *extent, unsigned *page, unsigned most) {
    unsigned pages = 0;
    while (*page < extent->pages && !is_free(extent, *page, 1))
        ++*page;
    while (pages < most && is_free(extent, *page, pages + 1))
        pages++;
    return pages;
}

static bool append(struct slot *slot, struct slot_piece piece) {
    struct slot_piece *more =
        realloc(slot->pieces, (slot->count + 1) * sizeof *more); /* rarely more than one */
    if (!more)
        return false;
    slot->pieces = more;
    slot->pieces[slot->count++] = piece;
    piece.extent->taken |= run(piece.page, piece.pages);
    return true;
}

/* In one piece if possible: that is one copy. Returns the number of pages still to be found. */
static unsigned take_one_run(struct slot *slot, struct extents *extents, unsigned pages) {
    for (struct extent *one = extents->first; one && pages <= EXTENT_PAGES_MAX; one = one->next) {
        unsigned page = 0, found;
        for (; (found = free_run(one, &page, pages)); page += found)
            if (found == pages)
                return append(slot, (struct slot_piece){one, page, pages}) ? 0 : pages;
    }
    return pages;
}

static unsigned take_pieces(struct slot *slot, struct extents *extents, unsigned pages) {
    for (struct extent *one = extents->first; one && pages; one = one->next) {
        unsigned page = 0, found;
        for (; pages && (found = free_run(one, &page, pages)); page += found) {
            if (!append(slot, (struct slot_piece){one, page, found}))
                return pages;
            pages -= found;
        }
    }
    return pages;
}

static void clear(struct slot *slot) {
    for (unsigned i = 0; i < slot->count; i++)
        slot->pieces[i].extent->taken &= ~run(slot->pieces[i].page, slot->pieces[i].pages);
    free(slot->pieces);
    *slot = (struct slot){0};
}

static int take(struct slot *slot, struct extents *extents, unsigned pages) {
    if (extents->unused < pages * EXTENT_PAGE)
        return -EAGAIN;
    unsigned missing = take_one_run(slot, extents, pages);
    if (missing)
        missing = take_pieces(slot, extents, missing);
    if (missing) {
        clear(slot);
        return -ENOMEM;
    }
    extents->unused -= pages * EXTENT_PAGE;
    return 0;
}

int slot_take(struct slot *slot, struct extents *extents, uint64_t bytes) {
    if (slot_is_taken(slot))
        return 0;
    pthread_mutex_lock(&extents->lock);
    int result = take(slot, extents, (unsigned)((bytes + EXTENT_PAGE - 1) / EXTENT_PAGE));
    pthread_mutex_unlock(&extents->lock);
    return result;
}

void slot_give_back(struct slot *slot, struct extents *extents) {
    if (!slot_is_taken(slot))
        return;
    pthread_mutex_lock(&extents->lock);
    for (unsigned i = 0; i < slot->count; i++)
        extents->unused += slot_piece_bytes(&slot->pieces[i]);
    clear(slot);
    pthread_mutex_unlock(&extents->lock);
}
