#include "seat.h"

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

/* Who has the lock needs it for a microsecond. One that keeps it for so long is dead, or was stopped. */
static const uint64_t takeover_ns = CLOCK_MS(100);

/* And if the lock goes from hand to hand for so long, it is left alone. Without it nobody passes the limit
 * either, see seat_reserve; it is only that two who could have had memory one after the other may get in
 * each other's way. */
static const uint64_t patience_ns = CLOCK_MS(1000);

enum { SPINS = 100, YIELDS = 20, READS = 1000, SLOT_BITS = 11 };

/* Not fstat, which old images do not have by this name. */
int seat_check(int descriptor, uint64_t *file) {
    struct stat found;
    int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) ||
        syscall(SYS_newfstatat, descriptor, "", &found, AT_EMPTY_PATH) < 0)
        return -EINVAL;
    *file = found.st_ino;
    return 0;
}

int seat_take(struct seat *seat, int descriptor, uint32_t slot, uint64_t number) {
    off_t size = lseek(descriptor, 0, SEEK_END);
    if (size < 0)
        return -errno;
    if (slot >= QUOTA_SLOTS || (uint64_t)size < sizeof *seat->page)
        return -EINVAL;
    struct quota_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED)
        return -errno;
    if (page->magic != QUOTA_MAGIC) {
        munmap(page, sizeof *page);
        return -EINVAL;
    }
    /* A child begins clean, see fork.c, and has a seat of its own. */
    madvise(page, sizeof *page, MADV_DONTFORK);
    *seat = (struct seat){.page = page, .slot = slot, .number = number};
    return 0;
}

void seat_leave(struct seat *seat) {
    seat_tell(seat, 0);
    if (seat->page)
        munmap(seat->page, sizeof *seat->page);
    *seat = (struct seat){0};
}

/* NULL for one whose slot has been given to somebody else: that one's numbers are not to be touched. */
static struct quota_slot *own_slot(const struct seat *seat) {
    if (!seat->page)
        return NULL;
    struct quota_slot *slot = &seat->page->slots[seat->slot];
    return atomic_load_explicit(&slot->seat, memory_order_relaxed) == seat->number ? slot : NULL;
}

void seat_tell(const struct seat *seat, uint64_t used) {
    struct quota_slot *slot = own_slot(seat);
    if (slot)
        atomic_store_explicit(&slot->used, used, memory_order_release);
}

void seat_keep(const struct seat *seat, uint64_t kept) {
    struct quota_slot *slot = own_slot(seat);
    if (slot)
        atomic_store_explicit(&slot->kept, kept, memory_order_release);
}

static void pause_briefly(unsigned tries) {
    if (tries < SPINS) {
        __asm__ volatile("" ::: "memory");
    } else if (tries < SPINS + YIELDS) {
        sched_yield();
    } else {
        /* The function of this name is a place where a thread can be cancelled. */
        struct timespec time = {.tv_nsec = 50 * 1000};
        syscall(SYS_nanosleep, &time, NULL);
    }
}

/* The daemon writes both words in one go, but no processor promises that they arrive in one. */
static uint64_t read_limit(const struct quota_page *page) {
    for (unsigned tries = 0;; tries++) {
        uint64_t check = atomic_load(&page->check), limit = atomic_load(&page->limit);
        if (check == (limit ^ QUOTA_CHECK) || tries == READS)
            return limit;
    }
}

uint64_t seat_limit(const struct seat *seat) {
    return seat->page ? read_limit(seat->page) : QUOTA_NO_LIMIT;
}

uint64_t seat_limit_source(const struct seat *seat) {
    return seat->page ? atomic_load(&seat->page->limit_source) : QUOTA_SOURCE_UNKNOWN;
}

static uint64_t add(uint64_t sum, uint64_t bytes) {
    return bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
}

/* What is asked for is read before what is used: bytes that go from one to the other in between are seen
 * twice, and never not at all. */
static uint64_t others(const struct seat *seat, const struct quota_slot *own, bool with_asked) {
    struct quota_page *page = seat->page;
    uint32_t count = atomic_load(&page->seats);
    uint64_t sum = atomic_load(&page->held);
    for (uint32_t i = 0; i < count && i < QUOTA_SLOTS; i++) {
        struct quota_slot *slot = &page->slots[i];
        if (slot == own)
            continue;
        uint64_t asked = atomic_load(&slot->asked);
        sum = add(sum, add(atomic_load(&slot->used), with_asked ? asked : 0));
        sum = add(sum, atomic_load(&slot->kept));
    }
    return sum;
}

uint64_t seat_group_used(const struct seat *seat, uint64_t used) {
    return seat->page ? add(used, others(seat, own_slot(seat), false)) : used;
}

/* Returns what the lock is to be given back with. */
static uint32_t take_lock(struct seat *seat) {
    _Atomic uint32_t *lock = &seat->page->lock;
    uint32_t ticket = ++seat->tickets << SLOT_BITS | (seat->slot + 1), seen = 0;
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

/* One who has lost it to another takes nothing away from that one. */
static void give_lock_back(struct seat *seat, uint32_t ticket) {
    atomic_compare_exchange_strong(&seat->page->lock, &ticket, 0);
}

/* First it is said that bytes are asked for, then the others are added up. So of two who do this at the same
 * time, because one was stopped for long and has lost the lock, at least one sees the other. */
static bool fits(struct seat *seat, struct quota_slot *own, uint64_t used, uint64_t bytes) {
    if (own)
        atomic_store(&own->asked, bytes);
    uint64_t wanted = add(add(used, bytes), others(seat, own, true));
    bool is_so = wanted <= read_limit(seat->page);
    if (own && is_so)
        atomic_store_explicit(&own->used, used + bytes, memory_order_release);
    if (own)
        atomic_store_explicit(&own->asked, 0, memory_order_release);
    return is_so;
}

int seat_reserve(struct seat *seat, uint64_t used, uint64_t bytes) {
    if (!seat->page)
        return 0;
    if (seat_limit(seat) == QUOTA_NO_LIMIT) {
        seat_tell(seat, used + bytes);
        atomic_thread_fence(memory_order_seq_cst);
        /* Whoever looks at a limit that comes after this sees these bytes. */
        if (seat_limit(seat) == QUOTA_NO_LIMIT)
            return 0;
        seat_tell(seat, used);
    }
    uint32_t ticket = take_lock(seat);
    bool is_so = fits(seat, own_slot(seat), used, bytes);
    give_lock_back(seat, ticket);
    return is_so ? 0 : -ENOMEM;
}
