/* Which allocations are on the GPU, and in which order they came, leave and return. Plain C: it
 * knows the ledger, and calls no driver.
 *
 * ring.h tells which bytes of an allocation are resident: memory that moves out leaves at the tail,
 * where it came, and memory that others push out leaves at the head. A piece counts as moved from
 * when it is taken, before the driver is asked, so that a question meanwhile is answered with the
 * outcome.
 *
 * Blocks that were away once have pages on the host, which stay until the allocation is freed. They
 * are unswappable and charged to the program, so there should be few: among equally cold
 * allocations, those with pages leave before those without. Pages are counted (`kept`), as exactly
 * as it is known what is away.
 *
 * The order of arrival among allocations is kept by numbers: one for the older part of an
 * allocation, and one for the part that came later.
 *
 * An allocation that was never used holds nothing and is nowhere. It counts as away, and neither
 * leaves nor returns. Once it is seen in use it is resident.
 *
 * Allocations can come and go at any time. Listed allocations are looked up again before use. */
#ifndef NVSHARE_RESIDENCY_H
#define NVSHARE_RESIDENCY_H

#include "memory/ledger.h"
#include "ring.h"

#define RESIDENCY_BLOCK RING_BLOCK

struct residency_item {
    uint64_t key, serial;
    uint64_t used_ns;
    uint64_t arrived;  /* in which order its resident part came */
    uint64_t bytes;    /* of that part */
    unsigned coldness; /* how long before the newest it was last used, in steps */
    bool is_divided;   /* away in part */
    bool has_pages;    /* it stands for the part that has pages on the host */
};

/* Allocations in the order in which they are to move. */
struct residency_list {
    struct residency_item *items;
    size_t count, next;
    uint64_t done; /* bytes of the next one that were already touched */
};

struct residency_piece {
    uint64_t address, bytes;
    uint64_t key, serial;    /* of its allocation */
    bool crosses;            /* the bus; otherwise it is there already */
    struct ring_trace trace; /* of one that leaves */
};

/* Whether memory of this kind can be moved at all. */
static inline bool residency_can_move(enum ledger_kind kind) {
    return !ledger_is_pinned(kind);
}

/* Whether it is recorded here: explicit memory has its own records. */
static inline bool residency_is_managed(enum ledger_kind kind) {
    return kind == LEDGER_CONVERTED || kind == LEDGER_MANAGED;
}

/* Resident memory, to leave; memory away, to return; resident memory, in the order of arrival.
 * Replaces the contents of the list, which begins as zeros. Returns 0 or -ENOMEM. */
int residency_list_there(struct ledger *ledger, int device, struct residency_list *list);
int residency_list_away(struct ledger *ledger, int device, struct residency_list *list);
int residency_list_arrived(struct ledger *ledger, int device, struct residency_list *list);
void residency_list_free(struct residency_list *list);

/* Takes the next piece: from now on it counts as away, or as resident. Pieces end at the end of a
 * block or of their allocation. A leaving piece is rounded up to a block; a returning one has at
 * most `most` bytes, but at least those of one block. Returns false if there is none left. The
 * allocation is not freed before residency_landed. */
bool residency_leave(struct ledger *ledger, struct residency_list *list, uint64_t most,
                     struct residency_piece *piece);
bool residency_return(struct ledger *ledger, struct residency_list *list, uint64_t most,
                      struct residency_piece *piece);

/* The next piece of resident memory, as large as possible, to be served by the driver once more, so
 * that it counts as the latest to arrive. Otherwise the same as above. */
bool residency_touch(struct ledger *ledger, struct residency_list *list,
                     struct residency_piece *piece);

/* The piece has not left after all. Applies if its allocation still exists. */
void residency_has_stayed(struct ledger *ledger, const struct residency_piece *piece);

/* The driver is done with these pieces, one way or another. */
void residency_landed(struct ledger *ledger, const struct residency_piece *pieces, unsigned count);

/* Others push out so much, rounded up to blocks: the earliest arrived goes first. It counts as away
 * from now on. Returns how much of it there was. */
uint64_t residency_displace(struct ledger *ledger, int device, uint64_t bytes);

/* The GPU uses an allocation, and its part that was away comes by itself. With the ledger's lock
 * held. */
void residency_is_used(struct ledger *ledger, struct ledger_entry *entry);

/* All memory on a device that was ever used counts as resident from now on; or all memory that was
 * not counts as used, because it may have been. */
void residency_all_there(struct ledger *ledger, int device);
void residency_all_used(struct ledger *ledger, int device);

#endif
