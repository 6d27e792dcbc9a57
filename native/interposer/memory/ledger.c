#include "ledger.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_BUCKETS = 256 };

/* How many calls are looked at after an allocation. A program that uses what it allocates does so
 * soon. */
enum { LOOKS = 1000 };

/* Addresses differ in their middle bits, and the multiplication moves these to the top. */
static struct ledger_entry **bucket_of(const struct ledger *ledger, uint64_t key) {
    uint64_t hash = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return &ledger->buckets[(hash >> 32) & (ledger->bucket_count - 1)];
}

static void link_bucket(struct ledger *ledger, struct ledger_entry *entry) {
    struct ledger_entry **bucket = bucket_of(ledger, entry->key);
    entry->next_in_bucket = *bucket;
    *bucket = entry;
    ledger->entry_count++;
}

/* Twice as many buckets as entries, so that a chain has one link. Without memory for more, chains
 * only grow longer. */
static int grow(struct ledger *ledger) {
    size_t count = ledger->bucket_count ? ledger->bucket_count * 4 : FIRST_BUCKETS;
    struct ledger_entry **buckets = calloc(count, sizeof *buckets);
    if (!buckets)
        return ledger->buckets ? 0 : -ENOMEM;
    struct ledger_entry **old = ledger->buckets;
    size_t old_count = ledger->bucket_count;
    ledger->buckets = buckets;
    ledger->bucket_count = count;
    ledger->entry_count = 0;
    for (size_t i = 0; i < old_count; i++)
        for (struct ledger_entry *entry = old[i], *next; entry; entry = next) {
            next = entry->next_in_bucket;
            link_bucket(ledger, entry);
        }
    free(old);
    return 0;
}

/* The owner used last comes first: a thread works with one context for long. */
static struct ledger_owner *find_owner(struct ledger *ledger, uint64_t id) {
    for (struct ledger_owner **at = &ledger->owners; *at; at = &(*at)->next)
        if ((*at)->id == id) {
            struct ledger_owner *owner = *at;
            *at = owner->next;
            owner->next = ledger->owners;
            ledger->owners = owner;
            return owner;
        }
    return NULL;
}

static struct ledger_owner *need_owner(struct ledger *ledger, uint64_t id) {
    struct ledger_owner *owner = find_owner(ledger, id);
    if (owner)
        return owner;
    owner = calloc(1, sizeof *owner);
    if (!owner)
        return NULL;
    owner->id = id;
    owner->next = ledger->owners;
    ledger->owners = owner;
    return owner;
}

static void link_owner(struct ledger_owner *owner, struct ledger_entry *entry) {
    entry->next_of_owner = owner->first;
    entry->link_of_owner = &owner->first;
    if (owner->first)
        owner->first->link_of_owner = &entry->next_of_owner;
    owner->first = entry;
}

static void unlink_owner(struct ledger_entry *entry) {
    if (!entry->link_of_owner)
        return;
    *entry->link_of_owner = entry->next_of_owner;
    if (entry->next_of_owner)
        entry->next_of_owner->link_of_owner = entry->link_of_owner;
    entry->next_of_owner = NULL;
    entry->link_of_owner = NULL;
}

/* With the lock held, as everything below that is static. */
static void watch(struct ledger_entry *entry) {
    struct watch *watch = &entry->account->watch;
    if (!watch->era)
        watch->era = 1;
    entry->era = watch->era;
    watch->count++;
    watch->looks = LOOKS;
}

void ledger_unwatch(struct ledger_entry *entry) {
    if (entry->era && entry->era == entry->account->watch.era)
        entry->account->watch.count--;
    entry->era = 0;
}

/* `sign` is 1, or all ones for less. Mappings have no account: the memory mapped is counted
 * itself. */
static void count_pinned(const struct ledger_entry *entry, uint64_t sign) {
    if (entry->account && ledger_is_pinned(entry->kind))
        atomic_fetch_add(&entry->account->pinned_by[entry->reason], sign * entry->bytes);
}

static int insert(struct ledger *ledger, struct ledger_entry *entry) {
    if (ledger->entry_count * 2 >= ledger->bucket_count && grow(ledger) < 0)
        return -ENOMEM;
    struct ledger_owner *owner = entry->owner ? need_owner(ledger, entry->owner) : NULL;
    if (entry->owner && !owner)
        return -ENOMEM;
    entry->next_of_owner = NULL;
    entry->link_of_owner = NULL;
    if (!entry->serial) {
        entry->serial = ++ledger->last_serial;
        count_pinned(entry, 1);
        if (entry->is_untouched)
            watch(entry);
        else
            entry->arrived = ++ledger->last_arrival;
    }
    if (owner)
        link_owner(owner, entry);
    link_bucket(ledger, entry);
    return 0;
}

static struct ledger_entry **find(const struct ledger *ledger, uint64_t key) {
    if (!ledger->buckets)
        return NULL;
    for (struct ledger_entry **at = bucket_of(ledger, key); *at; at = &(*at)->next_in_bucket)
        if ((*at)->key == key)
            return at;
    return NULL;
}

/* By identity: memory of a context may be gone from the driver already, and its address may be
 * listed a second time, for another allocation. */
static struct ledger_entry **place_of(const struct ledger *ledger,
                                      const struct ledger_entry *entry) {
    struct ledger_entry **at = bucket_of(ledger, entry->key);
    while (*at != entry)
        at = &(*at)->next_in_bucket;
    return at;
}

static struct ledger_entry *take(struct ledger *ledger, struct ledger_entry **at) {
    struct ledger_entry *entry = *at;
    *at = entry->next_in_bucket;
    ledger->entry_count--;
    unlink_owner(entry);
    ledger_unwatch(entry);
    return entry;
}

int ledger_add(struct ledger *ledger, const struct ledger_entry *entry) {
    struct ledger_entry *copy = malloc(sizeof *copy);
    if (!copy)
        return -ENOMEM;
    *copy = *entry;
    pthread_mutex_lock(&ledger->lock);
    int result = insert(ledger, copy);
    pthread_mutex_unlock(&ledger->lock);
    if (result < 0)
        free(copy);
    return result;
}

struct ledger_entry *ledger_at(const struct ledger *ledger, uint64_t key) {
    struct ledger_entry **at = find(ledger, key);
    return at ? *at : NULL;
}

int ledger_find(struct ledger *ledger, uint64_t key, struct ledger_entry *out) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry **at = find(ledger, key);
    if (at)
        *out = **at;
    pthread_mutex_unlock(&ledger->lock);
    return at ? 0 : -ENOENT;
}

/* Freeing memory is not a cancellation point for the program's threads. */
static void wait_for_landing(struct ledger *ledger) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ledger->waiting++;
    pthread_cond_wait(&ledger->landed, &ledger->lock);
    ledger->waiting--;
    pthread_setcancelstate(before, &before);
}

struct ledger_entry *ledger_take(struct ledger *ledger, uint64_t key) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry **at = find(ledger, key);
    while (at && (*at)->moves) {
        wait_for_landing(ledger);
        at = find(ledger, key);
    }
    struct ledger_entry *entry = at ? take(ledger, at) : NULL;
    pthread_mutex_unlock(&ledger->lock);
    return entry;
}

struct ledger_entry *ledger_take_owner(struct ledger *ledger, uint64_t id) {
    struct ledger_entry *taken = NULL;
    pthread_mutex_lock(&ledger->lock);
    struct ledger_owner *owner = find_owner(ledger, id);
    while (owner && owner->first) {
        struct ledger_entry *entry = take(ledger, place_of(ledger, owner->first));
        entry->next_of_owner = taken;
        taken = entry;
    }
    if (owner) {
        ledger->owners = owner->next; /* find_owner has put it first */
        free(owner);
    }
    pthread_mutex_unlock(&ledger->lock);
    return taken;
}

void ledger_drop(struct ledger_entry *entries) {
    for (struct ledger_entry *next; entries; entries = next) {
        next = entries->next_of_owner;
        if (entries->account) {
            atomic_fetch_sub(&entries->account->away, entries->away);
            atomic_fetch_sub(&entries->account->kept, entries->kept);
            if (entries->is_untouched)
                atomic_fetch_sub(&entries->account->untouched, entries->bytes);
            count_pinned(entries, UINT64_MAX);
            account_release(entries->account, entries->bytes, ledger_is_pinned(entries->kind));
        }
        free(entries);
    }
}

/* There was room for them a moment ago. If there is none now, they are at least uncounted. */
void ledger_put_back(struct ledger *ledger, struct ledger_entry *entries) {
    for (struct ledger_entry *next; entries; entries = next) {
        next = entries->next_of_owner;
        pthread_mutex_lock(&ledger->lock);
        int result = insert(ledger, entries);
        pthread_mutex_unlock(&ledger->lock);
        if (result < 0) {
            entries->next_of_owner = NULL;
            ledger_drop(entries);
        }
    }
}

int ledger_refer(struct ledger *ledger, uint64_t key) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry **at = find(ledger, key);
    if (at)
        (*at)->references++;
    pthread_mutex_unlock(&ledger->lock);
    return at ? 0 : -ENOENT;
}

struct ledger_entry *ledger_unrefer(struct ledger *ledger, uint64_t key) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry **at = find(ledger, key);
    struct ledger_entry *last = at && --(*at)->references == 0 ? take(ledger, at) : NULL;
    pthread_mutex_unlock(&ledger->lock);
    return last;
}

bool ledger_looks(struct ledger *ledger, struct account *account) {
    struct watch *watch = &account->watch;
    pthread_mutex_lock(&ledger->lock);
    bool looks = watch->count && watch->looks;
    if (looks) {
        watch->looks--;
    } else {
        watch->era++;
        watch->count = 0;
    }
    pthread_mutex_unlock(&ledger->lock);
    return looks;
}

bool ledger_watches(struct ledger *ledger, struct account *account) {
    pthread_mutex_lock(&ledger->lock);
    bool watches = account->watch.count > 0;
    pthread_mutex_unlock(&ledger->lock);
    return watches;
}

/* With the lock held. */
static void fix(struct ledger_entry *entry, enum pinned_reason reason) {
    if (entry->kind != LEDGER_EXPLICIT)
        return;
    entry->kind = LEDGER_FIXED;
    entry->reason = reason;
    account_fix(entry->account, entry->bytes);
    count_pinned(entry, 1);
}

void ledger_fix(struct ledger *ledger, struct account *account, enum pinned_reason reason) {
    pthread_mutex_lock(&ledger->lock);
    for (size_t i = 0; i < ledger->bucket_count; i++)
        for (struct ledger_entry *entry = ledger->buckets[i]; entry; entry = entry->next_in_bucket)
            if (entry->account == account)
                fix(entry, reason);
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_fix_one(struct ledger *ledger, uint64_t key, enum pinned_reason reason) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_entry *entry = ledger_at(ledger, key);
    if (entry)
        fix(entry, reason);
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_forget(struct ledger *ledger) {
    *ledger = (struct ledger)LEDGER_INITIALIZER;
}
