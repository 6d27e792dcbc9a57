#include "account.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "least.h"

enum { WORD_MS = 20 };

static uint64_t get(const _Atomic uint64_t *value) {
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* Only under the lock, so a store is enough. */
static void set(_Atomic uint64_t *value, uint64_t to) {
    atomic_store_explicit(value, to, memory_order_relaxed);
}

/* A raised limit is in the page a moment before the daemon's frame about it arrives. */
static bool is_word_late(struct account *account, uint64_t used, uint64_t bytes) {
    uint64_t told = get(&account->told);
    uint64_t wanted = bytes > UINT64_MAX - used ? UINT64_MAX : used + bytes;
    return told && wanted > told && wanted <= own_slot_limit(&account->own_slot);
}

static int reserve(struct account *account, uint64_t bytes, bool pinned, bool *is_late) {
    pthread_mutex_lock(&account->lock);
    uint64_t limit = get(&account->limit), used = get(&account->used);
    int result = -ENOMEM;
    *is_late = is_word_late(account, used, bytes);
    uint64_t told = get(&account->told);
    limit = told && told < limit ? told : limit;
    if (used <= limit && bytes <= limit - used)
        result = own_slot_reserve(&account->own_slot, used, bytes);
    if (result == 0) {
        set(&account->used, used + bytes);
        set(&account->pinned, get(&account->pinned) + (pinned ? bytes : 0));
    }
    pthread_mutex_unlock(&account->lock);
    return result;
}

int account_reserve(struct account *account, uint64_t bytes, bool pinned) {
    bool is_late;
    int result = reserve(account, bytes, pinned, &is_late);
    for (int i = 0; result < 0 && is_late && i < WORD_MS; i++) {
        /* The function of this name is a cancellation point. */
        struct timespec moment = {.tv_nsec = 1000 * 1000};
        syscall(SYS_nanosleep, &moment, NULL);
        result = reserve(account, bytes, pinned, &is_late);
    }
    return result;
}

void account_release(struct account *account, uint64_t bytes, bool pinned) {
    pthread_mutex_lock(&account->lock);
    uint64_t used = get(&account->used) - bytes;
    set(&account->pinned, get(&account->pinned) - (pinned ? bytes : 0));
    set(&account->used, used);
    own_slot_tell(&account->own_slot, used);
    pthread_mutex_unlock(&account->lock);
}

void account_set_stocked(struct account *account, uint64_t bytes) {
    pthread_mutex_lock(&account->lock);
    uint64_t used = get(&account->used) + bytes - account->stocked;
    account->stocked = bytes;
    set(&account->used, used);
    own_slot_tell(&account->own_slot, used);
    pthread_mutex_unlock(&account->lock);
}

void account_set_graphs(struct account *account, uint64_t bytes) {
    pthread_mutex_lock(&account->lock);
    uint64_t before = get(&account->pinned_by[PINNED_GRAPH]);
    uint64_t used = get(&account->used) + bytes - before;
    set(&account->pinned_by[PINNED_GRAPH], bytes);
    set(&account->pinned, get(&account->pinned) + bytes - before);
    set(&account->used, used);
    own_slot_tell(&account->own_slot, used);
    pthread_mutex_unlock(&account->lock);
}

void account_keep(struct account *account, uint64_t kept) {
    pthread_mutex_lock(&account->lock);
    own_slot_keep(&account->own_slot, kept);
    pthread_mutex_unlock(&account->lock);
}

void account_join(struct account *account, const struct own_slot *own) {
    pthread_mutex_lock(&account->lock);
    struct own_slot before = account->own_slot;
    account->own_slot = *own;
    own_slot_tell(&account->own_slot, get(&account->used));
    pthread_mutex_unlock(&account->lock);
    own_slot_leave(&before);
}

static uint64_t left_of(uint64_t limit, uint64_t used) {
    return used < limit ? limit - used : 0;
}

uint64_t account_limit(struct account *account) {
    pthread_mutex_lock(&account->lock);
    uint64_t limit = least(get(&account->limit), own_slot_limit(&account->own_slot));
    pthread_mutex_unlock(&account->lock);
    return limit;
}

uint64_t account_left(struct account *account) {
    pthread_mutex_lock(&account->lock);
    uint64_t used = get(&account->used), all = own_slot_group_used(&account->own_slot, used);
    uint64_t left = least(left_of(get(&account->limit), used),
                          left_of(own_slot_limit(&account->own_slot), all));
    pthread_mutex_unlock(&account->lock);
    return left;
}

uint64_t account_limit_source(struct account *account) {
    pthread_mutex_lock(&account->lock);
    uint64_t source = own_slot_limit_source(&account->own_slot);
    pthread_mutex_unlock(&account->lock);
    return source;
}

/* These numbers change one after the other, so for a moment they may not match. */
uint64_t account_there(const struct account *account) {
    uint64_t used = atomic_load(&account->used);
    uint64_t elsewhere =
        atomic_load(&account->pinned) + atomic_load(&account->away) + atomic_load(&account->coming);
    return used > elsewhere ? used - elsewhere : 0;
}

uint64_t account_absent(const struct account *account) {
    uint64_t untouched = atomic_load(&account->untouched), away = atomic_load(&account->away);
    return away > untouched ? away - untouched : 0;
}

uint64_t account_nowhere(const struct account *account) {
    return atomic_load(&account->untouched) + atomic_load(&account->coming);
}

void account_fix(struct account *account, uint64_t bytes) {
    pthread_mutex_lock(&account->lock);
    set(&account->pinned, get(&account->pinned) + bytes);
    pthread_mutex_unlock(&account->lock);
}
