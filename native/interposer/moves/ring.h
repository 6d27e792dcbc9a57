/* Which bytes of one allocation are on the GPU, and which of them have pages on the host. Plain C, and
 * arithmetic only. With the ledger's lock held.
 *
 * An allocation is a ring. What is there begins at its head and goes on, beyond the end to the beginning, up to its
 * tail, in the order in which it came. The rest, from the tail round to the head, is away. What this program moves
 * out leaves at the tail, so that what came last goes first, and what returns is put at the tail too: always the same
 * bytes come and go. What others push out goes from the head, since a driver evicts what was served the longest time
 * ago.
 *
 * Which bytes go matters because a driver gives a block pages on the host when it first goes there, and these stay
 * until the allocation is freed, also while the block is on the GPU. So the host keeps what was ever away, and not
 * only as much as was away at one time. If what leaves did so at the head, and returned at the tail, it would go round
 * the whole ring, and a program of which a part is away, time and again, would end up with pages for all of it.
 *
 * As it is, what has pages is one stretch too. It is `kept` bytes long, and ends where what is away does:
 *
 *     head                     tail                head
 *       |======== there ========|------ away ------|
 *       |  without pages  |========= kept =========|
 *
 * What leaves at the tail needs new pages only beyond that stretch: `kept` becomes what is away, if that is more. What
 * goes at the head makes it longer by as much, up to all of the allocation. That is exact, block by block, because
 * pieces end where blocks do. Memory that was never used has no pages: it is away without having left. */
#ifndef NVSHARE_RING_H
#define NVSHARE_RING_H

#include "memory/ledger.h"

/* The unit in which drivers move memory, and give it pages. */
#define RING_BLOCK ((uint64_t)2 << 20)

/* Bytes from an offset of the allocation on, which do not go beyond its end. */
struct ring_stretch {
    uint64_t from, bytes;
};

/* What leaving has changed, beside where the bytes are. */
struct ring_trace {
    uint64_t paged; /* bytes that had no pages before */
    uint64_t fresh; /* bytes that had come later than the rest */
};

static inline uint64_t ring_there(const struct ledger_entry *entry) {
    return entry->bytes - entry->away;
}

/* Behind the last byte that is there, where the next one comes. */
uint64_t ring_tail(const struct ledger_entry *entry);

/* Bytes that are there and can leave without new pages on the host. */
uint64_t ring_spare(const struct ledger_entry *entry);

/* What would go next, up to the edge of a block or of the allocation. What goes is at most so many bytes, rounded up
 * to a block: the last of what is there, or the first. What returns is rounded down, but not to nothing. */
struct ring_stretch ring_last(const struct ledger_entry *entry, uint64_t most);
struct ring_stretch ring_first(const struct ledger_entry *entry, uint64_t most);
struct ring_stretch ring_next(const struct ledger_entry *entry, uint64_t most);

/* So many bytes have left at the tail; were pushed out at the head; have come at the tail. */
struct ring_trace ring_leave(struct ledger_entry *entry, uint64_t bytes);
void ring_push_out(struct ledger_entry *entry, uint64_t bytes);
void ring_come(struct ledger *ledger, struct ledger_entry *entry, uint64_t bytes);

/* What has left last, from this offset on, has not left after all; unless it has come back already. */
void ring_stay(struct ledger_entry *entry, struct ring_stretch stretch, struct ring_trace trace);

/* All that is there was served by the driver once more. */
void ring_renew(struct ledger *ledger, struct ledger_entry *entry);

#endif
