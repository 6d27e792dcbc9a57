#include "ring.h"

#include "least.h"

static uint64_t block_begin(uint64_t address) {
    return address - address % RING_BLOCK;
}

static uint64_t block_end(uint64_t address) {
    return block_begin(address + RING_BLOCK - 1);
}

static uint64_t most_of(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

uint64_t ring_tail(const struct ledger_entry *entry) {
    uint64_t at = entry->head + ring_there(entry);
    return at < entry->bytes ? at : at - entry->bytes;
}

uint64_t ring_spare(const struct ledger_entry *entry) {
    return entry->kept > entry->away ? entry->kept - entry->away : 0;
}

struct ring_stretch ring_last(const struct ledger_entry *entry, uint64_t most) {
    uint64_t end = ring_tail(entry) ? ring_tail(entry) : entry->bytes;
    uint64_t all = least(end, ring_there(entry));
    if (most < all)
        all = least(all, entry->key + end - block_begin(entry->key + end - (most ? most : 1)));
    return (struct ring_stretch){end - all, all};
}

struct ring_stretch ring_first(const struct ledger_entry *entry, uint64_t most) {
    uint64_t begin = entry->key + entry->head;
    uint64_t all = least(entry->bytes - entry->head, ring_there(entry));
    if (most < all)
        all = least(all, block_end(begin + (most ? most : 1)) - begin);
    return (struct ring_stretch){entry->head, all};
}

struct ring_stretch ring_next(const struct ledger_entry *entry, uint64_t most) {
    uint64_t from = ring_tail(entry), begin = entry->key + from;
    uint64_t all = least(entry->bytes - from, entry->away);
    if (most < all) {
        uint64_t end = block_begin(begin + most);
        all = least(all, (end > begin ? end : block_end(begin + 1)) - begin);
    }
    return (struct ring_stretch){from, all};
}

static void set_away(struct ledger_entry *entry, uint64_t away) {
    atomic_fetch_add(&entry->account->away, away - entry->away);
    entry->away = away;
}

static void set_kept(struct ledger_entry *entry, uint64_t kept) {
    atomic_fetch_add(&entry->account->kept, kept - entry->kept);
    entry->kept = kept;
}

struct ring_trace ring_leave(struct ledger_entry *entry, uint64_t bytes) {
    struct ring_trace trace = {.paged = entry->kept, .fresh = least(entry->fresh, bytes)};
    entry->fresh -= trace.fresh;
    set_away(entry, entry->away + bytes);
    set_kept(entry, most_of(entry->kept, entry->away));
    trace.paged = entry->kept - trace.paged;
    return trace;
}

void ring_push_out(struct ledger_entry *entry, uint64_t bytes) {
    entry->head = (entry->head + bytes) % entry->bytes;
    set_away(entry, entry->away + bytes);
    set_kept(entry, least(entry->bytes, entry->kept + bytes));
    if (entry->fresh && entry->fresh >= ring_there(entry)) {
        entry->arrived = entry->fresh_arrived;
        entry->fresh = 0;
    }
}

/* Three arrivals are remembered as two. */
void ring_come(struct ledger *ledger, struct ledger_entry *entry, uint64_t bytes) {
    uint64_t newest = entry->fresh ? entry->fresh_arrived : entry->arrived;
    bool goes_on = ring_there(entry) && newest == ledger->last_arrival;
    if (!goes_on)
        ledger->last_arrival++;
    if (!ring_there(entry)) {
        entry->arrived = ledger->last_arrival;
    } else if (entry->fresh || !goes_on) {
        entry->fresh += bytes;
        entry->fresh_arrived = ledger->last_arrival;
    }
    set_away(entry, entry->away - bytes);
}

/* Others may have pushed something out meanwhile, at the other end. */
void ring_stay(struct ledger_entry *entry, struct ring_stretch stretch, struct ring_trace trace) {
    if (entry->away < stretch.bytes || ring_tail(entry) != stretch.from)
        return;
    set_away(entry, entry->away - stretch.bytes);
    set_kept(entry, most_of(entry->away, entry->kept - least(trace.paged, entry->kept)));
    entry->fresh = least(entry->fresh + trace.fresh, ring_there(entry));
}

void ring_renew(struct ledger *ledger, struct ledger_entry *entry) {
    entry->arrived = ++ledger->last_arrival;
    entry->fresh = 0;
}
