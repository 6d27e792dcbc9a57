#include "recency.h"

#include <stdlib.h>

#include "explicit/region.h"
#include "moves/residency.h"
#include "process/clock.h"

/* The index is rebuilt by a program's thread: at most so often, and for at most one hundredth of
 * the time. */
static const uint64_t least_pause = CLOCK_MS(10);
enum { SHARE = 100 };

static int compare(const void *left, const void *right) {
    const struct recency_range *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* With both locks held. */
static void gather(struct recency *recency, const struct ledger *ledger) {
    recency->count = 0;
    for (size_t i = 0; i < ledger->bucket_count; i++)
        for (struct ledger_entry *entry = ledger->buckets[i]; entry; entry = entry->next_in_bucket)
            if (residency_can_move(entry->kind))
                recency->ranges[recency->count++] =
                    (struct recency_range){entry->key, entry->key + entry->bytes, entry->serial};
    recency->last_serial = ledger->last_serial;
}

static void make_index(struct recency *recency, struct ledger *ledger, uint64_t now) {
    pthread_mutex_lock(&ledger->lock);
    bool is_new = recency->last_serial != ledger->last_serial;
    struct recency_range *ranges =
        is_new ? realloc(recency->ranges, (ledger->entry_count + 1) * sizeof *ranges) : NULL;
    if (ranges) {
        recency->ranges = ranges;
        gather(recency, ledger);
    }
    pthread_mutex_unlock(&ledger->lock);
    if (!ranges)
        return;
    qsort(ranges, recency->count, sizeof *ranges, compare);
    uint64_t took = clock_now() - now;
    recency->due = now + (took * SHARE > least_pause ? took * SHARE : least_pause);
}

/* The range that a number lies in, or NULL. */
static const struct recency_range *find(const struct recency *recency, uint64_t number) {
    size_t low = 0, high = recency->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (recency->ranges[middle].begin <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low && number < recency->ranges[low - 1].end ? &recency->ranges[low - 1] : NULL;
}

/* With the ledger's lock held, as below. */
static void use(struct ledger *ledger, struct ledger_entry *entry, uint64_t now) {
    entry->used_ns = now;
    if (ledger_is_explicit(entry->kind))
        ((struct region *)(uintptr_t)entry->target)->used_ns = now;
    residency_is_used(ledger, entry);
}

/* With both locks held. The allocation may be gone by now, and its address belong to another
 * one. */
static void note(const struct recency *recency, struct ledger *ledger, uint64_t number,
                 uint64_t now) {
    const struct recency_range *range = find(recency, number);
    struct ledger_entry *entry = range ? ledger_at(ledger, range->begin) : NULL;
    if (entry && entry->serial == range->serial)
        use(ledger, entry, now);
}

void recency_note(struct recency *recency, struct ledger *ledger, const uint64_t *numbers,
                  size_t count, uint64_t now) {
    if (pthread_mutex_trylock(&recency->lock) != 0)
        return;
    if (now >= recency->due)
        make_index(recency, ledger, now);
    pthread_mutex_lock(&ledger->lock);
    for (size_t i = 0; i < count; i++)
        note(recency, ledger, numbers[i], now);
    pthread_mutex_unlock(&ledger->lock);
    pthread_mutex_unlock(&recency->lock);
}

bool recency_saw(struct ledger *ledger, uint64_t key, uint64_t now) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = ledger_at(ledger, key);
    if (entry && residency_can_move(entry->kind))
        use(ledger, entry, now);
    pthread_mutex_unlock(&ledger->lock);
    return entry != NULL;
}

void recency_forget(struct recency *recency) {
    *recency = (struct recency)RECENCY_INITIALIZER;
}
