/* What the program has allocated: which allocation is whose. How much it is on each GPU is in account.h. Plain C: it
 * knows keys (addresses, handles) and numbers, and calls no driver.
 *
 * An allocation is counted before the driver is asked for it (account_reserve), so that threads which
 * allocate at the same time cannot pass the limit together. It is taken out of the table before the
 * driver frees it (ledger_take), so that the address cannot come back from the driver to another thread
 * while it still stands here.
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
    LEDGER_FIXED,     /* the same, and now it stays */
    LEDGER_MANAGED,   /* the program asked for managed memory itself */
    LEDGER_PLAIN,     /* plain memory, which stays where it is */
};

struct pool;

struct ledger_entry {
    uint64_t key;
    uint64_t bytes;
    uint64_t owner; /* with which it goes, or 0 */
    struct account *account;
    enum ledger_kind kind;
    enum pinned_reason reason; /* why it stays where it is, if it does */
    int device;
    unsigned references; /* for those who count them */
    uint64_t target;     /* another key that it refers to; of the explicit way: its region */
    struct pool *pool;   /* that it is from, if that gives explicit memory; or NULL */
    uint64_t
        serial;     /* its number among all that were ever added; a key comes back, this does not */
    unsigned moves; /* that are in flight; it is not freed before they have ended */
    uint64_t used_ns;  /* when it was last seen in use */
    bool is_untouched; /* it has never been seen in use: all of it is away, and nowhere */
    uint64_t era;      /* in which it is watched for; 0: it is not */
    /* For ring.c. */
    uint64_t away;          /* bytes that are not on the GPU */
    uint64_t kept;          /* bytes that have pages on the host, whether they are there or away */
    uint64_t head;          /* where those begin that are there */
    uint64_t arrived;       /* in which order they came */
    uint64_t fresh;         /* of these, bytes at the end that came later */
    uint64_t fresh_arrived; /* in which order those did */
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
    pthread_cond_t landed;         /* a move has ended that somebody waits for */
    struct ledger_entry **buckets; /* NULL as long as it is empty */
    size_t bucket_count;           /* a power of two */
    size_t entry_count;
    uint64_t last_serial;
    uint64_t last_arrival; /* of memory on a GPU */
    unsigned waiting;      /* for moves to end */
    struct ledger_owner *owners;
};

#define LEDGER_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER, .landed = PTHREAD_COND_INITIALIZER}

static inline bool ledger_is_pinned(enum ledger_kind kind) {
    return kind == LEDGER_PLAIN || kind == LEDGER_FIXED;
}

static inline bool ledger_is_explicit(enum ledger_kind kind) {
    return kind == LEDGER_EXPLICIT || kind == LEDGER_FIXED;
}

/* Adds an entry (a copy of what is given). Its bytes are counted already, those that are away too.
 * Returns 0 or -ENOMEM. */
int ledger_add(struct ledger *ledger, const struct ledger_entry *entry);

/* Copies the entry of a key. Returns 0 or -ENOENT. */
int ledger_find(struct ledger *ledger, uint64_t key, struct ledger_entry *out);

/* Takes the entry of a key out; the bytes stay counted until ledger_drop. Waits for moves in flight. NULL
 * if there is none. */
struct ledger_entry *ledger_take(struct ledger *ledger, uint64_t key);

/* Takes all entries of an owner out, as a list by next_of_owner. */
struct ledger_entry *ledger_take_owner(struct ledger *ledger, uint64_t owner);

/* What was taken is gone: uncounts and frees it; a list as a whole. NULL is allowed. */
void ledger_drop(struct ledger_entry *entries);

/* What was taken is still there after all; a list as a whole. NULL is allowed. */
void ledger_put_back(struct ledger *ledger, struct ledger_entry *entries);

/* Adds a reference to a key. Returns 0 or -ENOENT. */
int ledger_refer(struct ledger *ledger, uint64_t key);

/* Gives a reference up. With the last one the entry is taken out, as by ledger_take; else NULL. */
struct ledger_entry *ledger_unrefer(struct ledger *ledger, uint64_t key);

/* The entry of a key, to be looked at and changed by a caller that holds the lock; NULL if there is
 * none. */
struct ledger_entry *ledger_at(const struct ledger *ledger, uint64_t key);

/* Whether the next call is to be looked at, for allocations that are watched for. When it is not, nothing is
 * watched for any more; ledger_watches tells if that has changed meanwhile. */
bool ledger_looks(struct ledger *ledger, struct account *account);
bool ledger_watches(struct ledger *ledger, struct account *account);

/* An allocation is not watched for any more, since it was seen or is gone. With the lock held. */
void ledger_unwatch(struct ledger_entry *entry);

/* What is of the explicit way counts as pinned from now on. */
void ledger_fix(struct ledger *ledger, struct account *account, enum pinned_reason reason);

/* The same for the entry of a key. */
void ledger_fix_one(struct ledger *ledger, uint64_t key, enum pinned_reason reason);

/* In a child after fork: forgets everything. The memory of entries is left to the parent's copy. */
void ledger_forget(struct ledger *ledger);

#endif
