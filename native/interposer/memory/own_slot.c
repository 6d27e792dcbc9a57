#include "own_slot.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/clock.h"

/* A process needs the lock for a microsecond. One that keeps it for so long is dead, or was
 * stopped. */
static const uint64_t takeover_ns = CLOCK_MS(100);

/* If the lock keeps changing hands for so long, this process goes on without it. The limit still
 * holds, see own_slot_reserve. But two processes that could have had memory one after the other may
 * get in each other's way. */
static const uint64_t patience_ns = CLOCK_MS(1000);

enum { SPINS = 100, YIELDS = 20, READS = 1000, SLOT_BITS = 11 };

int own_slot_check(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals < 0 || !(seals & F_SEAL_SHRINK) ? -EINVAL : 0;
}

int own_slot_take(struct own_slot *own, int descriptor, uint32_t slot, uint64_t key) {
    off_t size = lseek(descriptor, 0, SEEK_END);
    if (size < 0)
        return -errno;
    if (slot >= QUOTA_SLOTS || (uint64_t)size < sizeof *own->page)
        return -EINVAL;
    struct quota_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED)
        return -errno;
    if (page->magic != QUOTA_MAGIC) {
        munmap(page, sizeof *page);
        return -EINVAL;
    }
    /* A child starts clean, see fork.c, and has a slot of its own. */
    madvise(page, sizeof *page, MADV_DONTFORK);
    *own = (struct own_slot){.page = page, .slot = slot, .key = key};
    return 0;
}

void own_slot_leave(struct own_slot *own) {
    own_slot_tell(own, 0);
    if (own->page)
        munmap(own->page, sizeof *own->page);
    *own = (struct own_slot){0};
}

/* NULL if the slot was given to another process, whose numbers must not be touched. */
static struct quota_slot *slot_in_page(const struct own_slot *own) {
    if (!own->page)
        return NULL;
    struct quota_slot *slot = &own->page->slots[own->slot];
    return atomic_load_explicit(&slot->key, memory_order_relaxed) == own->key ? slot : NULL;
}

void own_slot_tell(const struct own_slot *own, uint64_t used) {
    struct quota_slot *slot = slot_in_page(own);
    if (slot)
        atomic_store_explicit(&slot->used, used, memory_order_release);
}

void own_slot_keep(const struct own_slot *own, uint64_t kept) {
    struct quota_slot *slot = slot_in_page(own);
    if (slot)
        atomic_store_explicit(&slot->kept, kept, memory_order_release);
}

static void pause_briefly(unsigned tries) {
    if (tries < SPINS) {
        __asm__ volatile("" ::: "memory");
    } else if (tries < SPINS + YIELDS) {
        sched_yield();
    } else {
        /* The function of this name is a cancellation point. */
        struct timespec time = {.tv_nsec = 50 * 1000};
        syscall(SYS_nanosleep, &time, NULL);
    }
}

/* The daemon writes both words together, but no processor promises that they arrive together. */
static uint64_t read_limit(const struct quota_page *page) {
    for (unsigned tries = 0;; tries++) {
        uint64_t check = atomic_load(&page->check), limit = atomic_load(&page->limit);
        if (check == (limit ^ QUOTA_CHECK) || tries == READS)
            return limit;
    }
}

uint64_t own_slot_limit(const struct own_slot *own) {
    return own->page ? read_limit(own->page) : QUOTA_NO_LIMIT;
}

uint64_t own_slot_limit_source(const struct own_slot *own) {
    return own->page ? atomic_load(&own->page->limit_source) : QUOTA_SOURCE_UNKNOWN;
}

static uint64_t add(uint64_t sum, uint64_t bytes) {
    return bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
}

/* `asked` is read before `used`: bytes that go from one to the other in between are seen twice, and
 * never missed. */
static uint64_t others(const struct own_slot *own, const struct quota_slot *except,
                       bool with_asked) {
    struct quota_page *page = own->page;
    uint32_t count = atomic_load(&page->used_slots);
    uint64_t sum = atomic_load(&page->held);
    for (uint32_t i = 0; i < count && i < QUOTA_SLOTS; i++) {
        struct quota_slot *slot = &page->slots[i];
        if (slot == except)
            continue;
        uint64_t asked = atomic_load(&slot->asked);
        sum = add(sum, add(atomic_load(&slot->used), with_asked ? asked : 0));
        sum = add(sum, atomic_load(&slot->kept));
    }
    return sum;
}

uint64_t own_slot_group_used(const struct own_slot *own, uint64_t used) {
    return own->page ? add(used, others(own, slot_in_page(own), false)) : used;
}

/* Returns the ticket that gives the lock back. */
static uint32_t take_lock(struct own_slot *own) {
    _Atomic uint32_t *lock = &own->page->lock;
    uint32_t ticket = ++own->tickets << SLOT_BITS | (own->slot + 1), seen = 0;
    uint64_t began = 0, since = 0;
    for (unsigned tries = 0;; tries++) {
        uint32_t found = 0;
        if (atomic_compare_exchange_strong(lock, &found, ticket))
            return ticket;
        uint64_t now = clock_now();
        if (!began)
            began = now;
        if (found != seen) {
            seen = found;
            since = now;
        } else if (now - since > takeover_ns &&
                   atomic_compare_exchange_strong(lock, &found, ticket)) {
            return ticket;
        }
        if (now - began > patience_ns)
            return ticket;
        pause_briefly(tries);
    }
}

/* Does nothing if another process has taken the lock over. */
static void give_lock_back(struct own_slot *own, uint32_t ticket) {
    atomic_compare_exchange_strong(&own->page->lock, &ticket, 0);
}

/* The bytes are announced first, and the others are added up after that. So if two processes do
 * this at the same time, because one was stopped for long and has lost the lock, at least one sees
 * the other. */
static bool fits(struct own_slot *own, struct quota_slot *slot, uint64_t used, uint64_t bytes) {
    if (slot)
        atomic_store(&slot->asked, bytes);
    uint64_t wanted = add(add(used, bytes), others(own, slot, true));
    bool is_so = wanted <= read_limit(own->page);
    if (slot && is_so)
        atomic_store_explicit(&slot->used, used + bytes, memory_order_release);
    if (slot)
        atomic_store_explicit(&slot->asked, 0, memory_order_release);
    return is_so;
}

int own_slot_reserve(struct own_slot *own, uint64_t used, uint64_t bytes) {
    if (!own->page)
        return 0;
    if (own_slot_limit(own) == QUOTA_NO_LIMIT) {
        own_slot_tell(own, used + bytes);
        atomic_thread_fence(memory_order_seq_cst);
        /* A process that reads a limit set after this sees these bytes. */
        if (own_slot_limit(own) == QUOTA_NO_LIMIT)
            return 0;
        own_slot_tell(own, used);
    }
    uint32_t ticket = take_lock(own);
    bool is_so = fits(own, slot_in_page(own), used, bytes);
    give_lock_back(own, ticket);
    return is_so ? 0 : -ENOMEM;
}
