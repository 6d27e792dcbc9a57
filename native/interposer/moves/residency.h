/* Which allocations are on the GPU, in which order they came, leave and return. Plain C: it knows the
 * ledger, and calls no driver.
 *
 * Which bytes of an allocation are there is told by ring.h: what leaves goes at the tail, where it came, and what
 * others push out at the head. A piece counts as moved from when it is taken, before the driver is asked: whoever
 * asks meanwhile gets what will be.
 *
 * Blocks that were away once have pages on the host, which stay until the allocation is freed. They are unswappable
 * and charged to the program, so there are to be few: among allocations that are equally cold, whatever has pages
 * leaves before anything that has none. What has is counted (`kept`), as exactly as it is known what is away.
 *
 * Among allocations the order of arrival is kept by numbers: one for what an allocation has had for longer,
 * and one for what has come since.
 *
 * An allocation that nobody has used yet holds nothing and is nowhere. It counts as away, and neither leaves nor
 * returns. Once it is seen in use it is there.
 *
 * Allocations can come and go at any time. What is listed here is looked up again before it is used. */
#ifndef NVSHARE_RESIDENCY_H
#define NVSHARE_RESIDENCY_H

#include "memory/ledger.h"
#include "ring.h"

#define RESIDENCY_BLOCK RING_BLOCK

struct residency_item {
    uint64_t key, serial;
    uint64_t used_ns;
    uint64_t arrived;  /* in which order what there is of it came */
    uint64_t bytes;    /* that came so */
    unsigned coldness; /* how long before the newest it was last used, coarsely */
    bool is_divided;   /* away in part */
    bool has_pages;    /* stands for what of it has pages on the host */
};

/* Allocations in the order in which they are to move. */
struct residency_list {
    struct residency_item *items;
    size_t count, next;
    uint64_t done; /* bytes of the next one that were touched already */
};

struct residency_piece {
    uint64_t address, bytes;
    uint64_t key, serial;    /* of its allocation */
    bool crosses;            /* the bus; otherwise it is where it is to be */
    struct ring_trace trace; /* of one that leaves */
};

/* Whether memory of this kind can be moved at all. */
static inline bool residency_can_move(enum ledger_kind kind) {
    return !ledger_is_pinned(kind);
}

/* Whether it is kept here: memory of the explicit way has records of its own. */
static inline bool residency_is_managed(enum ledger_kind kind) {
    return kind == LEDGER_CONVERTED || kind == LEDGER_MANAGED;
}

/* What is there, to leave; what is away, to return; what is there, in the order in which it came. Replaces
 * what is in the list, which begins as zeros. Returns 0 or -ENOMEM. */
int residency_list_there(struct ledger *ledger, int device, struct residency_list *list);
int residency_list_away(struct ledger *ledger, int device, struct residency_list *list);
int residency_list_arrived(struct ledger *ledger, int device, struct residency_list *list);
void residency_list_free(struct residency_list *list);

/* Takes the next piece: it counts as away, or as there, from now on. Pieces end at the end of a block or of their
 * allocation. What leaves is rounded up to a block; what returns is at most `most` bytes, but at least what lies in
 * one block. Returns false if there is none left. Whoever frees the allocation waits until
 * residency_landed. */
bool residency_leave(struct ledger *ledger, struct residency_list *list, uint64_t most,
                     struct residency_piece *piece);
bool residency_return(struct ledger *ledger, struct residency_list *list, uint64_t most,
                      struct residency_piece *piece);

/* The next piece of what is there, as large as can be, to be served by the driver once more: so it is what came
 * last. The same as above otherwise. */
bool residency_touch(struct ledger *ledger, struct residency_list *list,
                     struct residency_piece *piece);

/* The piece has not left after all; as far as its allocation still exists. */
void residency_has_stayed(struct ledger *ledger, const struct residency_piece *piece);

/* The driver has done with these pieces, one way or another. */
void residency_landed(struct ledger *ledger, const struct residency_piece *pieces, unsigned count);

/* Others push so much out, rounded up to blocks: what came first goes first. It counts as away from now on.
 * Returns how much of it there was. */
uint64_t residency_displace(struct ledger *ledger, int device, uint64_t bytes);

/* The GPU uses an allocation, and what of it was away comes by itself. With the ledger's lock held. */
void residency_is_used(struct ledger *ledger, struct ledger_entry *entry);

/* Everything on a device that was ever used counts as there from now on; or everything that was not counts as
 * used, because it may have been. */
void residency_all_there(struct ledger *ledger, int device);
void residency_all_used(struct ledger *ledger, int device);

#endif
