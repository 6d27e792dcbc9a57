#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "old_calls.h"

/* A GPU needs a handful, and there are a few more for the whole process. */
enum { KEPT_MAX = 512 };

/* Where programs rarely get: shells, for one, use low numbers for redirections. */
enum { FIRST_HIGH = 500 };

/* For a place in the list whose number is not set yet; and for an empty one, which has to be 0. */
enum { BEING_SET = -1, EMPTY = 0 };

struct kept {
    _Atomic int plus_one; /* the number + 1 */
    _Atomic uint64_t device, inode;
};

static struct kept list[KEPT_MAX];
static _Atomic unsigned reached; /* places from here on were never used */

static struct kept *find(int descriptor) {
    unsigned count = atomic_load(&reached);
    for (unsigned i = 0; i < count; i++)
        if (atomic_load_explicit(&list[i].plus_one, memory_order_acquire) == descriptor + 1)
            return &list[i];
    return NULL;
}

static struct kept *find_empty(void) {
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        int empty = EMPTY;
        if (!atomic_compare_exchange_strong(&list[i].plus_one, &empty, BEING_SET))
            continue;
        unsigned before = atomic_load(&reached);
        while (before <= i && !atomic_compare_exchange_weak(&reached, &before, i + 1))
            continue;
        return &list[i];
    }
    return NULL;
}

/* Not close(), where a thread can be cancelled: it may have a lock. */
static void close_now(int descriptor) {
    syscall(SYS_close, descriptor);
}

static int move_away(int descriptor) {
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_HIGH);
    if (high < 0)
        return descriptor;
    close_now(descriptor);
    return high;
}

/* The kernel has just given this number out: whoever had it has lost it. */
static void forget(int descriptor) {
    struct kept *stale = find(descriptor);
    if (stale)
        atomic_store(&stale->plus_one, EMPTY);
}

/* The file is looked at before it has a high number: a program that puts its own there may do so at
 * this moment. */
static int keep(int descriptor) {
    struct stat file;
    bool is_open = old_fstat(descriptor, &file) == 0;
    struct kept *place = is_open ? find_empty() : NULL;
    if (!place) {
        close_now(descriptor);
        return -1;
    }
    atomic_store(&place->device, file.st_dev);
    atomic_store(&place->inode, file.st_ino);
    int number = move_away(descriptor);
    forget(number);
    atomic_store_explicit(&place->plus_one, number + 1, memory_order_release);
    return number;
}

int descriptor_keep(int descriptor) {
    int before = errno, number = keep(descriptor);
    errno = before;
    return number;
}

static bool is_same_file(const struct kept *kept, int descriptor) {
    struct stat file;
    return old_fstat(descriptor, &file) == 0 && file.st_dev == atomic_load(&kept->device) &&
           file.st_ino == atomic_load(&kept->inode);
}

bool descriptor_is_kept(int descriptor) {
    int before = errno;
    const struct kept *kept = descriptor >= 0 ? find(descriptor) : NULL;
    bool is_kept = kept && is_same_file(kept, descriptor);
    errno = before;
    return is_kept;
}

void descriptor_close(int descriptor) {
    int before = errno;
    struct kept *kept = descriptor >= 0 ? find(descriptor) : NULL;
    if (kept) {
        bool is_ours = is_same_file(kept, descriptor);
        atomic_store(&kept->plus_one, EMPTY);
        if (is_ours)
            close_now(descriptor);
    }
    errno = before;
}

enum { WORD_BITS = sizeof(long) * CHAR_BIT, SELECTED_MAX = 8192 };

typedef unsigned long bits[SELECTED_MAX / WORD_BITS];

static unsigned long mask(int descriptor) {
    return 1ul << descriptor % WORD_BITS;
}

/* select looks at any descriptor that is open, whatever the limit says by now. */
static int await_by_select(struct pollfd *set, unsigned count, const struct timespec *timeout) {
    bits in = {0}, out = {0};
    struct timespec rest = timeout ? *timeout : (struct timespec){0};
    int most = -1, ready = 0;
    for (unsigned i = 0; i < count; i++) {
        int one = set[i].fd;
        set[i].revents = 0;
        if (one < 0 || one >= SELECTED_MAX)
            continue;
        (set[i].events & POLLOUT ? out : in)[one / WORD_BITS] |= mask(one);
        most = one > most ? one : most;
    }
    if (syscall(SYS_pselect6, most + 1, in, out, NULL, timeout ? &rest : NULL, NULL) < 0)
        return -errno;
    for (unsigned i = 0; i < count; i++) {
        int one = set[i].fd;
        if (one < 0 || one >= SELECTED_MAX)
            continue;
        if ((set[i].events & POLLOUT ? out : in)[one / WORD_BITS] & mask(one))
            set[i].revents = set[i].events;
        ready += set[i].revents != 0;
    }
    return ready;
}

int descriptors_await(struct pollfd *set, unsigned count, const struct timespec *timeout) {
    int before = errno, ready = ppoll(set, count, timeout, NULL);
    int result = ready < 0 ? -errno : ready;
    if (result == -EINVAL)
        result = await_by_select(set, count, timeout);
    errno = before;
    return result;
}
