/* Which allocations are on the GPU, and in which order they leave it and come back. Plain C: it knows the
 * ledger, and calls no driver.
 *
 * An allocation is away from its beginning up to some byte, and there from that byte on; so one number
 * tells it all. What leaves does so from the first byte that is there, what returns from the last byte
 * that is away. A piece counts as moved from when it is taken, before the driver is asked: whoever asks
 * meanwhile gets what will be.
 *
 * Allocations can come and go at any time. What is listed here is looked up again before it is used. */
#ifndef NVSHARE_RESIDENCY_H
#define NVSHARE_RESIDENCY_H

#include "ledger.h"

/* The unit in which drivers move memory. */
#define RESIDENCY_BLOCK ((uint64_t)2 << 20)

struct residency_item {
    uint64_t key, serial;
    uint64_t used_ns;
    unsigned coldness; /* how long before the newest it was last used, coarsely */
    bool is_divided;   /* away in part */
};

/* Allocations in the order in which they are to move. */
struct residency_list {
    struct residency_item *items;
    size_t count, next;
};

struct residency_piece {
    uint64_t address, bytes;
    uint64_t key, serial; /* of its allocation */
    bool is_untouched;    /* there are no bytes to move, only room to be found */
};

/* Whether memory of this kind can be moved at all. */
static inline bool residency_can_move(enum ledger_kind kind) {
    return !ledger_is_pinned(kind);
}

/* What is there, to leave; what is away, to return. Replaces what is in the list, which begins as zeros.
 * Returns 0 or -ENOMEM. */
int residency_list_there(struct ledger *ledger, int device, struct residency_list *list);
int residency_list_away(struct ledger *ledger, int device, struct residency_list *list);
void residency_list_free(struct residency_list *list);

/* Takes the next piece of at most `most` bytes, but at least what lies in one block: it counts as away,
 * or as there, from now on. Pieces end at the end of a block or of their allocation. Returns false if
 * there is none left. Whoever frees the allocation waits until residency_landed. */
bool residency_leave(struct ledger *ledger, struct residency_list *list, uint64_t most,
                     struct residency_piece *piece);
bool residency_return(struct ledger *ledger, struct residency_list *list, uint64_t most,
                      struct residency_piece *piece);

/* The piece has not left, or has not come, after all; as far as its allocation still exists. */
void residency_has_stayed(struct ledger *ledger, const struct residency_piece *piece);
void residency_has_not_come(struct ledger *ledger, const struct residency_piece *piece);

/* The driver has done with these pieces, one way or another. */
void residency_landed(struct ledger *ledger, const struct residency_piece *pieces, unsigned count);

/* The GPU uses an allocation, and what of it was away comes by itself. With the ledger's lock held. */
void residency_is_used(struct ledger_entry *entry);

/* Everything on a device counts as there from now on. */
void residency_all_there(struct ledger *ledger, int device);

#endif
