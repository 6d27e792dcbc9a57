/* What the program has allocated: one entry per allocation. The totals on each GPU are in
 * account.h. Plain C: it knows keys (addresses, handles) and numbers, and calls no driver.
 *
 * An allocation is counted before the driver is asked for it (account_reserve), so that threads
 * which allocate at the same time cannot pass the limit together. It is taken out of the table
 * before the driver frees it (ledger_take), so that the driver cannot give the address to another
 * thread while it is still listed here.
 *
 * Functions return 0 or a negative errno; outputs are untouched on failure. */
#ifndef NVSHARE_LEDGER_H
#define NVSHARE_LEDGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"

enum ledger_kind {
    LEDGER_CONVERTED, /* the program asked for plain memory, and got managed memory */
    LEDGER_EXPLICIT,  /* the program asked for plain memory, and got some that explicit/ moves */
    LEDGER_FIXED,     /* explicit memory that stays from now on */
    LEDGER_MANAGED,   /* the program asked for managed memory itself */
    LEDGER_PLAIN,     /* plain memory, which stays where it is */
};

struct pool;

struct ledger_entry {
    uint64_t key;
    uint64_t bytes;
    uint64_t owner; /* its context, or 0 */
    struct account *account;
    enum ledger_kind kind;
    enum pinned_reason reason; /* why it stays where it is, if it does */
    int device;
    unsigned references; /* where references are counted */
    uint64_t target;     /* another key that it refers to; of explicit memory: its region */
    struct pool *pool;   /* its pool, if that gives explicit memory; or NULL */
    uint64_t
        serial;     /* its number among all that were ever added; a key comes back, this does not */
    unsigned moves; /* in flight; it is not freed before they have ended */
    uint64_t used_ns;  /* when it was last seen in use */
    bool is_untouched; /* it has never been seen in use: all of it is away, and nowhere */
    uint64_t era;      /* in which it is watched; 0: it is not */
    /* For ring.c. */
    uint64_t away;          /* bytes that are not on the GPU */
    uint64_t kept;          /* bytes that have pages on the host, on the GPU or away */
    uint64_t head;          /* where the resident bytes begin */
    uint64_t arrived;       /* in which order they came */
    uint64_t fresh;         /* of these, bytes at the end that arrived later */
    uint64_t fresh_arrived; /* in which order they did */
    struct ledger_entry *next_in_bucket;
    struct ledger_entry *next_of_owner, **link_of_owner;
};

struct ledger_owner {
    uint64_t id;
    struct ledger_entry *first;
    struct ledger_owner *next;
};

struct ledger {
    pthread_mutex_t lock;
    pthread_cond_t landed;         /* a move has ended that a thread waits for */
    struct ledger_entry **buckets; /* NULL while it is empty */
    size_t bucket_count;           /* a power of two */
    size_t entry_count;
    uint64_t last_serial;
    uint64_t last_arrival; /* of memory on a GPU */
    unsigned waiting;      /* threads that wait for moves to end */
    struct ledger_owner *owners;
};

#define LEDGER_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER, .landed = PTHREAD_COND_INITIALIZER}

static inline bool ledger_is_pinned(enum ledger_kind kind) {
    return kind == LEDGER_PLAIN || kind == LEDGER_FIXED;
}

static inline bool ledger_is_explicit(enum ledger_kind kind) {
    return kind == LEDGER_EXPLICIT || kind == LEDGER_FIXED;
}

/* Adds an entry (a copy). Its bytes are counted already, including those that are away. Returns 0
 * or -ENOMEM. */
int ledger_add(struct ledger *ledger, const struct ledger_entry *entry);

/* Copies out the entry of a key. Returns 0 or -ENOENT. */
int ledger_find(struct ledger *ledger, uint64_t key, struct ledger_entry *out);

/* Takes out the entry of a key. Its bytes stay counted until ledger_drop. Waits for moves in
 * flight. Returns NULL if there is none. */
struct ledger_entry *ledger_take(struct ledger *ledger, uint64_t key);

/* Takes out all entries of an owner, as a list by next_of_owner. */
struct ledger_entry *ledger_take_owner(struct ledger *ledger, uint64_t owner);

/* Uncounts and frees taken entries: a list as a whole. NULL is allowed. */
void ledger_drop(struct ledger_entry *entries);

/* Puts taken entries back, whose memory was not freed: a list as a whole. NULL is allowed. */
void ledger_put_back(struct ledger *ledger, struct ledger_entry *entries);

/* Adds a reference to a key. Returns 0 or -ENOENT. */
int ledger_refer(struct ledger *ledger, uint64_t key);

/* Drops a reference. With the last one the entry is taken out, as by ledger_take; else returns
 * NULL. */
struct ledger_entry *ledger_unrefer(struct ledger *ledger, uint64_t key);

/* The entry of a key, for a caller that holds the lock; NULL if there is none. */
struct ledger_entry *ledger_at(const struct ledger *ledger, uint64_t key);

/* Whether the next call is to be looked at, for watched allocations. When this returns false,
 * nothing is watched any more; ledger_watches tells if that has changed meanwhile. */
bool ledger_looks(struct ledger *ledger, struct account *account);
bool ledger_watches(struct ledger *ledger, struct account *account);

/* Stops watching an allocation, which was seen or is gone. With the lock held. */
void ledger_unwatch(struct ledger_entry *entry);

/* Explicit memory counts as pinned from now on. */
void ledger_fix(struct ledger *ledger, struct account *account, enum pinned_reason reason);

/* The same for the entry of a key. */
void ledger_fix_one(struct ledger *ledger, uint64_t key, enum pinned_reason reason);

/* In a child after fork: forgets everything. The entries themselves are not freed. */
void ledger_forget(struct ledger *ledger);

#endif
