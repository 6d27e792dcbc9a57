/* Which bytes of one allocation are on the GPU, and which of them have pages on the host. Plain C,
 * and arithmetic only. With the ledger's lock held.
 *
 * An allocation is a ring. Its resident bytes begin at the head and go on, beyond the end to the
 * beginning, up to the tail, in the order of arrival. The rest, from the tail round to the head, is
 * away. Memory that this program moves out leaves at the tail, so that the last to arrive goes
 * first, and returning memory is put at the tail too: always the same bytes come and go. Memory
 * that others push out goes from the head, since a driver evicts the block that was served the
 * longest time ago.
 *
 * It matters which bytes go, because a driver gives a block pages on the host when it first goes
 * there, and these stay until the allocation is freed, even while the block is on the GPU. So the
 * host keeps pages for all bytes that were ever away, not only for those away at one moment. If
 * memory left at the head and returned at the tail, it would go round the whole ring. A program
 * that has a part away, time and again, would end up with pages for all of it.
 *
 * With this order, the bytes with pages are one stretch too. It is `kept` bytes long, and ends
 * where the bytes away end:
 *
 *     head                     tail                head
 *       |======== there ========|------ away ------|
 *       |  without pages  |========= kept =========|
 *
 * Memory that leaves at the tail needs new pages only beyond that stretch: `kept` becomes the bytes
 * away, if those are more. Memory that goes at the head makes it longer by as much, up to the whole
 * allocation. That is exact, block by block, because pieces end where blocks do. Memory that was
 * never used has no pages: it is away without having left. */
#ifndef NVSHARE_RING_H
#define NVSHARE_RING_H

#include "memory/ledger.h"

/* The unit in which drivers move memory, and give it pages. */
#define RING_BLOCK ((uint64_t)2 << 20)

/* Bytes from an offset of the allocation on, not beyond its end. */
struct ring_stretch {
    uint64_t from, bytes;
};

/* What leaving has changed, besides where the bytes are. */
struct ring_trace {
    uint64_t paged; /* bytes that had no pages before */
    uint64_t fresh; /* bytes that had arrived later than the rest */
};

static inline uint64_t ring_there(const struct ledger_entry *entry) {
    return entry->bytes - entry->away;
}

/* Behind the last resident byte, where the next one comes. */
uint64_t ring_tail(const struct ledger_entry *entry);

/* Resident bytes that can leave without new pages on the host. */
uint64_t ring_spare(const struct ledger_entry *entry);

/* The stretch that would go next, up to the edge of a block or of the allocation. A leaving stretch
 * is at most so many bytes, rounded up to a block: the last resident bytes, or the first. A
 * returning one is rounded down, but not to nothing. */
struct ring_stretch ring_last(const struct ledger_entry *entry, uint64_t most);
struct ring_stretch ring_first(const struct ledger_entry *entry, uint64_t most);
struct ring_stretch ring_next(const struct ledger_entry *entry, uint64_t most);

/* So many bytes have left at the tail; were pushed out at the head; have come at the tail. */
struct ring_trace ring_leave(struct ledger_entry *entry, uint64_t bytes);
void ring_push_out(struct ledger_entry *entry, uint64_t bytes);
void ring_come(struct ledger *ledger, struct ledger_entry *entry, uint64_t bytes);

/* The last stretch to leave has not left after all, unless it has come back already. */
void ring_stay(struct ledger_entry *entry, struct ring_stretch stretch, struct ring_trace trace);

/* The driver has served all resident bytes once more. */
void ring_renew(struct ledger *ledger, struct ledger_entry *entry);

#endif
