#include "extent.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/ledger.h"

void extents_init(struct extents *extents, struct account *account) {
    *extents = (struct extents){.account = account};
    pthread_mutex_init(&extents->lock, NULL);
}

static void lock(struct extents *extents) {
    pthread_mutex_lock(&extents->lock);
}

static void unlock(struct extents *extents) {
    pthread_mutex_unlock(&extents->lock);
}

/* A negative number wraps around. */
static void change_held(struct extents *extents, uint64_t more) {
    extents->report.held += more;
    extents->unused += more;
    atomic_fetch_add(&extents->account->kept, more);
}

/* With the lock held. New extents go to the end: those at the beginning are locked sooner, and used
 * first. */
static bool add(struct extents *extents, void *at, uint64_t bytes) {
    struct extent *extent = calloc(1, sizeof *extent);
    if (!extent)
        return false;
    extent->at = at;
    extent->pages = (unsigned)(bytes / EXTENT_PAGE);
    if (extents->last)
        extents->last->next = extent;
    else
        extents->first = extent;
    extents->last = extent;
    change_held(extents, bytes);
    return true;
}

/* A child of the program must not have it: fork copies locked pages. */
static bool map(struct extents *extents, int descriptor, uint64_t bytes) {
    int flags = MAP_SHARED | MAP_NORESERVE | (descriptor < 0 ? MAP_ANONYMOUS : 0);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (at == MAP_FAILED)
        return false;
    madvise(at, bytes, MADV_DONTFORK);
    lock(extents);
    bool is_added = add(extents, at, bytes);
    unlock(extents);
    if (!is_added)
        munmap(at, bytes);
    return is_added;
}

static uint64_t whole_pages(uint64_t bytes) {
    uint64_t pages = bytes / EXTENT_PAGE;
    return (pages < EXTENT_PAGES_MAX ? pages : EXTENT_PAGES_MAX) * EXTENT_PAGE;
}

void extents_receive(struct extents *extents, int descriptor, uint64_t bytes) {
    bool is_mapped = whole_pages(bytes) && map(extents, descriptor, whole_pages(bytes));
    lock(extents);
    extents->report.received += bytes;
    extents->is_full |= !is_mapped;
    unlock(extents);
    atomic_store(&extents->is_denied, false);
}

int extents_make(struct extents *extents, uint64_t bytes) {
    for (uint64_t made = 0; made < bytes; made += EXTENT_BYTES)
        if (!map(extents, -1, EXTENT_BYTES))
            return -ENOMEM;
    return 0;
}

bool extents_have_spare(struct extents *extents, uint64_t most) {
    lock(extents);
    bool have = extents->report.held >= most + EXTENT_BYTES;
    unlock(extents);
    return have;
}

bool extents_await(struct extents *extents, uint64_t bytes) {
    lock(extents);
    uint64_t unused = extents->unused;
    extents->report.lacking = bytes > unused ? bytes - unused : 0;
    unlock(extents);
    return bytes <= unused;
}

struct extents_report extents_look(struct extents *extents, uint64_t most) {
    lock(extents);
    struct extents_report report = extents->report;
    report.most = extents->is_full ? report.held : most;
    unlock(extents);
    return report;
}

void extents_reconnect(struct extents *extents) {
    lock(extents);
    extents->report.received = 0;
    unlock(extents);
}

struct extent *extents_take_spare(struct extents *extents, uint64_t most) {
    struct extent *found = NULL, *before = NULL;
    lock(extents);
    for (struct extent *one = extents->first; one; before = one, one = one->next) {
        if (one->taken || extents->report.held < most + extent_bytes(one))
            continue;
        *(before ? &before->next : &extents->first) = one->next;
        if (extents->last == one)
            extents->last = before;
        change_held(extents, -extent_bytes(one));
        found = one;
        break;
    }
    unlock(extents);
    return found;
}

void extent_unmap(struct extent *extent) {
    munmap(extent->at, extent_bytes(extent));
    free(extent);
}
