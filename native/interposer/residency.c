#include "residency.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t block_begin(uint64_t address) {
    return address - address % RESIDENCY_BLOCK;
}

static uint64_t block_end(uint64_t address) {
    return block_begin(address + RESIDENCY_BLOCK - 1);
}

/* With the ledger's lock held, as everything below that is static and looks at entries. */
static void set_away(struct ledger_entry *entry, uint64_t away) {
    atomic_fetch_add(&entry->account->away, away - entry->away);
    entry->away = away;
    if (away == 0)
        entry->is_untouched = false;
}

static bool can_leave(const struct ledger_entry *entry) {
    return entry->away < entry->bytes;
}

static bool can_return(const struct ledger_entry *entry) {
    return entry->away > 0;
}

/* The coldest first. Among equals those that are divided already, so that few are; then the oldest. */
static int compare_leaving(const void *left, const void *right) {
    const struct residency_item *a = left, *b = right;
    if (a->coldness != b->coldness)
        return a->coldness > b->coldness ? -1 : 1;
    if (a->is_divided != b->is_divided)
        return a->is_divided ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* What would leave last comes first. */
static int compare_returning(const void *left, const void *right) {
    return compare_leaving(right, left);
}

static uint64_t last_use(const struct ledger_entry *entry) {
    uint64_t all = atomic_load_explicit(&entry->account->all_used_ns, memory_order_relaxed);
    return entry->used_ns > all ? entry->used_ns : all;
}

static struct residency_item item_of(const struct ledger_entry *entry) {
    return (struct residency_item){.key = entry->key,
                                   .serial = entry->serial,
                                   .used_ns = last_use(entry),
                                   .is_divided = entry->away > 0 && entry->away < entry->bytes};
}

static void gather(const struct ledger *ledger, int device, struct residency_list *list,
                   bool (*is_wanted)(const struct ledger_entry *)) {
    for (size_t i = 0; i < ledger->bucket_count; i++)
        for (struct ledger_entry *entry = ledger->buckets[i]; entry; entry = entry->next_in_bucket)
            if (entry->device == device && residency_can_move(entry->kind) && is_wanted(entry))
                list->items[list->count++] = item_of(entry);
}

static int fill_list(struct ledger *ledger, int device, struct residency_list *list,
                     bool (*is_wanted)(const struct ledger_entry *)) {
    residency_list_free(list);
    pthread_mutex_lock(&ledger->lock);
    list->items = malloc((ledger->entry_count + 1) * sizeof *list->items);
    if (list->items)
        gather(ledger, device, list, is_wanted);
    pthread_mutex_unlock(&ledger->lock);
    return list->items ? 0 : -ENOMEM;
}

/* Allocations that were used within a second of each other are used together: which of them was last is
 * chance, as is which of them was seen. Beyond that, twice the time is one step. */
static unsigned coldness(uint64_t age_ns) {
    unsigned steps = 0;
    for (uint64_t seconds = age_ns / 1000000000; seconds; seconds /= 2)
        steps++;
    return steps;
}

/* Compared with the newest use, and not with now: a program that has waited long is not cold as a whole. */
static void judge(struct residency_list *list) {
    uint64_t newest = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].used_ns > newest)
            newest = list->items[i].used_ns;
    for (size_t i = 0; i < list->count; i++)
        list->items[i].coldness = coldness(newest - list->items[i].used_ns);
}

static void sort(struct residency_list *list, int (*compare)(const void *, const void *)) {
    judge(list);
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
}

int residency_list_there(struct ledger *ledger, int device, struct residency_list *list) {
    int result = fill_list(ledger, device, list, can_leave);
    sort(list, compare_leaving);
    return result;
}

int residency_list_away(struct ledger *ledger, int device, struct residency_list *list) {
    int result = fill_list(ledger, device, list, can_return);
    sort(list, compare_returning);
    return result;
}

void residency_list_free(struct residency_list *list) {
    free(list->items);
    *list = (struct residency_list){0};
}

/* The same allocation, and not another one that has its address now. */
static struct ledger_entry *find(const struct ledger *ledger, uint64_t key, uint64_t serial) {
    struct ledger_entry *entry = ledger_at(ledger, key);
    return entry && entry->serial == serial ? entry : NULL;
}

static struct ledger_entry *next_entry(const struct ledger *ledger, struct residency_list *list,
                                       bool (*is_wanted)(const struct ledger_entry *)) {
    for (; list->next < list->count; list->next++) {
        const struct residency_item *item = &list->items[list->next];
        struct ledger_entry *entry = find(ledger, item->key, item->serial);
        if (entry && is_wanted(entry))
            return entry;
    }
    return NULL;
}

static struct residency_piece piece_of(const struct ledger_entry *entry, uint64_t begin,
                                       uint64_t end) {
    return (struct residency_piece){.address = begin,
                                    .bytes = end - begin,
                                    .key = entry->key,
                                    .serial = entry->serial,
                                    .is_untouched = entry->is_untouched};
}

static struct residency_piece leave(struct ledger_entry *entry, uint64_t most) {
    uint64_t begin = entry->key + entry->away, end = entry->key + entry->bytes;
    if (most < end - begin && block_end(begin + most) < end)
        end = block_end(begin + most);
    entry->is_untouched = false;
    set_away(entry, end - entry->key);
    entry->moves++;
    return piece_of(entry, begin, end);
}

static struct residency_piece come_back(struct ledger_entry *entry, uint64_t most) {
    uint64_t begin = entry->key, end = entry->key + entry->away;
    if (most < end - begin) {
        begin = block_end(end - most);
        if (begin >= end)
            begin = block_begin(end - 1);
        if (begin < entry->key)
            begin = entry->key;
    }
    struct residency_piece piece = piece_of(entry, begin, end);
    set_away(entry, begin - entry->key);
    entry->moves++;
    return piece;
}

bool residency_leave(struct ledger *ledger, struct residency_list *list, uint64_t most,
                     struct residency_piece *piece) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = next_entry(ledger, list, can_leave);
    if (entry)
        *piece = leave(entry, most);
    pthread_mutex_unlock(&ledger->lock);
    return entry != NULL;
}

bool residency_return(struct ledger *ledger, struct residency_list *list, uint64_t most,
                      struct residency_piece *piece) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = next_entry(ledger, list, can_return);
    if (entry)
        *piece = come_back(entry, most);
    pthread_mutex_unlock(&ledger->lock);
    return entry != NULL;
}

void residency_has_stayed(struct ledger *ledger, const struct residency_piece *piece) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = find(ledger, piece->key, piece->serial);
    if (entry && entry->away > piece->address - piece->key)
        set_away(entry, piece->address - piece->key);
    pthread_mutex_unlock(&ledger->lock);
}

void residency_has_not_come(struct ledger *ledger, const struct residency_piece *piece) {
    uint64_t away = piece->address + piece->bytes - piece->key;
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = find(ledger, piece->key, piece->serial);
    if (entry && entry->away < away) {
        set_away(entry, away);
        entry->is_untouched = piece->is_untouched;
    }
    pthread_mutex_unlock(&ledger->lock);
}

void residency_landed(struct ledger *ledger, const struct residency_piece *pieces, unsigned count) {
    pthread_mutex_lock(&ledger->lock);
    for (unsigned i = 0; i < count; i++) {
        struct ledger_entry *entry = find(ledger, pieces[i].key, pieces[i].serial);
        if (entry)
            entry->moves--;
    }
    if (ledger->waiting)
        pthread_cond_broadcast(&ledger->landed);
    pthread_mutex_unlock(&ledger->lock);
}

void residency_is_used(struct ledger_entry *entry) {
    if (entry->away)
        set_away(entry, 0);
}

void residency_all_there(struct ledger *ledger, int device) {
    pthread_mutex_lock(&ledger->lock);
    for (size_t i = 0; i < ledger->bucket_count; i++)
        for (struct ledger_entry *entry = ledger->buckets[i]; entry; entry = entry->next_in_bucket)
            if (entry->device == device && entry->away)
                set_away(entry, 0);
    pthread_mutex_unlock(&ledger->lock);
}
