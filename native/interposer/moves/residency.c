#include "residency.h"

#include <errno.h>
#include <stdlib.h>

#include "least.h"
#include "memory/coldness.h"

/* With the ledger's lock held, as everything below that is static and looks at entries. */
static bool can_leave(const struct ledger_entry *entry) {
    return ring_there(entry) > 0;
}

static bool can_return(const struct ledger_entry *entry) {
    return entry->away > 0 && !entry->is_untouched;
}

/* The coldest first. Among equals, memory that has pages on the host first, since other memory
 * needs new pages, which stay; then divided allocations, so that few are; then the oldest. */
static int compare_leaving(const void *left, const void *right) {
    const struct residency_item *a = left, *b = right;
    if (a->coldness != b->coldness)
        return a->coldness > b->coldness ? -1 : 1;
    if (a->has_pages != b->has_pages)
        return a->has_pages ? -1 : 1;
    if (a->is_divided != b->is_divided)
        return a->is_divided ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* Memory that would leave last returns first. */
static int compare_returning(const void *left, const void *right) {
    return compare_leaving(right, left);
}

static int compare_arrived(const void *left, const void *right) {
    const struct residency_item *a = left, *b = right;
    if (a->arrived != b->arrived)
        return a->arrived < b->arrived ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static uint64_t last_use(const struct ledger_entry *entry) {
    uint64_t all = atomic_load_explicit(&entry->account->all_used_ns, memory_order_relaxed);
    return entry->used_ns > all ? entry->used_ns : all;
}

static struct residency_item item_of(const struct ledger_entry *entry) {
    return (struct residency_item){.key = entry->key,
                                   .serial = entry->serial,
                                   .used_ns = last_use(entry),
                                   .arrived = entry->arrived,
                                   .bytes = ring_there(entry) - entry->fresh,
                                   .is_divided = entry->away > 0 && entry->away < entry->bytes};
}

/* The later part of an allocation is an item of its own, where the order of arrival matters. So is
 * the part with pages on the host, where that matters. */
typedef bool make_second(const struct ledger_entry *, struct residency_item *);

static bool what_came_later(const struct ledger_entry *entry, struct residency_item *item) {
    item->arrived = entry->fresh_arrived;
    item->bytes = entry->fresh;
    return entry->fresh > 0;
}

static bool what_has_pages(const struct ledger_entry *entry, struct residency_item *item) {
    item->has_pages = true;
    return ring_spare(entry) > 0;
}

static void gather(const struct ledger *ledger, int device, struct residency_list *list,
                   bool (*is_wanted)(const struct ledger_entry *), make_second *second) {
    for (size_t i = 0; i < ledger->bucket_count; i++)
        for (struct ledger_entry *entry = ledger->buckets[i]; entry;
             entry = entry->next_in_bucket) {
            if (entry->device != device || !residency_is_managed(entry->kind) || !is_wanted(entry))
                continue;
            struct residency_item item = item_of(entry);
            list->items[list->count++] = item;
            if (second && second(entry, &item))
                list->items[list->count++] = item;
        }
}

static int list_held(const struct ledger *ledger, int device, struct residency_list *list,
                     bool (*is_wanted)(const struct ledger_entry *), make_second *second) {
    size_t most = (second ? 2 : 1) * ledger->entry_count + 1;
    residency_list_free(list);
    list->items = malloc(most * sizeof *list->items);
    if (!list->items)
        return -ENOMEM;
    gather(ledger, device, list, is_wanted, second);
    return 0;
}

static int fill_list(struct ledger *ledger, int device, struct residency_list *list,
                     bool (*is_wanted)(const struct ledger_entry *), make_second *second) {
    pthread_mutex_lock(&ledger->lock);
    int result = list_held(ledger, device, list, is_wanted, second);
    pthread_mutex_unlock(&ledger->lock);
    return result;
}

/* Relative to the newest use, not to now: a program that has waited long is not cold as a whole. */
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
    int result = fill_list(ledger, device, list, can_leave, what_has_pages);
    sort(list, compare_leaving);
    return result;
}

int residency_list_away(struct ledger *ledger, int device, struct residency_list *list) {
    int result = fill_list(ledger, device, list, can_return, NULL);
    sort(list, compare_returning);
    return result;
}

int residency_list_arrived(struct ledger *ledger, int device, struct residency_list *list) {
    int result = fill_list(ledger, device, list, can_leave, NULL);
    sort(list, compare_arrived);
    return result;
}

void residency_list_free(struct residency_list *list) {
    free(list->items);
    *list = (struct residency_list){0};
}

/* The same allocation, not another one that has its address now. */
static struct ledger_entry *find(const struct ledger *ledger, uint64_t key, uint64_t serial) {
    struct ledger_entry *entry = ledger_at(ledger, key);
    return entry && entry->serial == serial ? entry : NULL;
}

static struct ledger_entry *next_entry(const struct ledger *ledger, struct residency_list *list,
                                       bool (*is_wanted)(const struct ledger_entry *)) {
    for (; list->next < list->count; list->next++, list->done = 0) {
        const struct residency_item *item = &list->items[list->next];
        struct ledger_entry *entry = find(ledger, item->key, item->serial);
        if (entry && is_wanted(entry))
            return entry;
    }
    return NULL;
}

/* Takes a piece of an allocation. It is in flight from now on. */
static struct residency_piece take(struct ledger_entry *entry, struct ring_stretch stretch,
                                   bool crosses) {
    entry->moves++;
    return (struct residency_piece){.address = entry->key + stretch.from,
                                    .bytes = stretch.bytes,
                                    .key = entry->key,
                                    .serial = entry->serial,
                                    .crosses = crosses};
}

/* Of an item with pages, only as far as it still has them. */
static struct ledger_entry *next_to_leave(const struct ledger *ledger,
                                          struct residency_list *list) {
    struct ledger_entry *entry;
    while ((entry = next_entry(ledger, list, can_leave)) && list->items[list->next].has_pages &&
           !ring_spare(entry))
        list->next++;
    return entry;
}

bool residency_leave(struct ledger *ledger, struct residency_list *list, uint64_t most,
                     struct residency_piece *piece) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = next_to_leave(ledger, list);
    if (entry) {
        if (list->items[list->next].has_pages)
            most = least(most, ring_spare(entry));
        *piece = take(entry, ring_last(entry, most), true);
        piece->trace = ring_leave(entry, piece->bytes);
    }
    pthread_mutex_unlock(&ledger->lock);
    return entry != NULL;
}

bool residency_return(struct ledger *ledger, struct residency_list *list, uint64_t most,
                      struct residency_piece *piece) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = next_entry(ledger, list, can_return);
    if (entry) {
        *piece = take(entry, ring_next(entry, most), true);
        ring_come(ledger, entry, piece->bytes);
    }
    pthread_mutex_unlock(&ledger->lock);
    return entry != NULL;
}

/* Of memory that is resident and was not touched yet. */
static struct ledger_entry *next_to_touch(const struct ledger *ledger,
                                          struct residency_list *list) {
    struct ledger_entry *entry;
    while ((entry = next_entry(ledger, list, can_leave)) && list->done >= ring_there(entry)) {
        list->next++;
        list->done = 0;
    }
    return entry;
}

/* Two pieces at most: up to the end of the allocation, and on from its beginning. */
bool residency_touch(struct ledger *ledger, struct residency_list *list,
                     struct residency_piece *piece) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = next_to_touch(ledger, list);
    if (entry) {
        uint64_t from = (entry->head + list->done) % entry->bytes;
        uint64_t bytes = least(entry->bytes - from, ring_there(entry) - list->done);
        *piece = take(entry, (struct ring_stretch){from, bytes}, false);
        list->done += piece->bytes;
        ring_renew(ledger, entry);
    }
    pthread_mutex_unlock(&ledger->lock);
    return entry != NULL;
}

void residency_has_stayed(struct ledger *ledger, const struct residency_piece *piece) {
    struct ring_stretch stretch = {piece->address - piece->key, piece->bytes};
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = find(ledger, piece->key, piece->serial);
    if (entry)
        ring_stay(entry, stretch, piece->trace);
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

/* Displaces one item, which may go on beyond the end of its allocation. */
static uint64_t displace(const struct ledger *ledger, const struct residency_item *item,
                         uint64_t bytes) {
    struct ledger_entry *entry = find(ledger, item->key, item->serial);
    uint64_t done = 0, wanted = least(bytes, item->bytes);
    while (done < wanted && ring_there(entry)) {
        uint64_t piece = ring_first(entry, wanted - done).bytes;
        ring_push_out(entry, piece);
        done += piece;
    }
    return done;
}

uint64_t residency_displace(struct ledger *ledger, int device, uint64_t bytes) {
    struct residency_list list = {0};
    uint64_t done = 0;
    pthread_mutex_lock(&ledger->lock);
    if (list_held(ledger, device, &list, can_leave, what_came_later) == 0) {
        sort(&list, compare_arrived);
        for (size_t i = 0; i < list.count && done < bytes; i++)
            done += displace(ledger, &list.items[i], bytes - done);
    }
    pthread_mutex_unlock(&ledger->lock);
    residency_list_free(&list);
    return done;
}

void residency_is_used(struct ledger *ledger, struct ledger_entry *entry) {
    if (entry->away)
        ring_come(ledger, entry, entry->away);
    if (!entry->is_untouched)
        return;
    ledger_unwatch(entry);
    entry->is_untouched = false;
    atomic_fetch_sub(&entry->account->untouched, entry->bytes);
}

static void use_all(struct ledger *ledger, int device, bool untouched) {
    pthread_mutex_lock(&ledger->lock);
    for (size_t i = 0; i < ledger->bucket_count; i++)
        for (struct ledger_entry *entry = ledger->buckets[i]; entry; entry = entry->next_in_bucket)
            if (entry->device == device && entry->is_untouched == untouched)
                residency_is_used(ledger, entry);
    pthread_mutex_unlock(&ledger->lock);
}

void residency_all_there(struct ledger *ledger, int device) {
    use_all(ledger, device, false);
}

void residency_all_used(struct ledger *ledger, int device) {
    use_all(ledger, device, true);
}
