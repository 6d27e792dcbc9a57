/* The page of a group, into which every tenant of the group can write what it likes (seat.c, bucket.c).
 *
 * The input is the beginning of a page, behind a few numbers of our own. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/seat.h"
#include "shares/bucket.h"
#include "targets.h"

struct own {
    uint32_t slot, share_ppm;
    uint64_t number, used, bytes, now, window_ns;
};

static int page_with(const uint8_t *data, size_t size) {
    static struct quota_page page;
    memset(&page, 0, sizeof page);
    memcpy(&page, data, size < sizeof page ? size : sizeof page);
    page.magic = QUOTA_MAGIC;
    page.lock = 0; /* one that is held is waited for, and a test of its own looks at that */
    int file = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    FUZZ_PROMISE(file >= 0 && write(file, &page, sizeof page) == sizeof page);
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK);
    return file;
}

static void sit(struct seat *seat, const struct own *own) {
    uint64_t limit = seat_limit(seat);
    uint64_t used = own->used / 2, bytes = own->bytes / 2;
    if (seat_reserve(seat, used, bytes) == 0)
        FUZZ_PROMISE(used + bytes <= limit);
    seat_keep(seat, own->bytes);
    seat_tell(seat, used);
    FUZZ_PROMISE(seat_group_used(seat, used) >= used);
    seat_limit_source(seat);
}

static void pay(struct seat *seat, const struct own *own) {
    struct bucket bucket = {&seat->page->paid_until};
    /* As LIMITS can say it. */
    struct rate rate = {1 + own->share_ppm % 1000000,
                        own->window_ns % ((uint64_t)UINT32_MAX * 1000)};
    struct rate other = {1000000, rate.window_ns / 2};
    uint64_t now = own->now % INT64_MAX;
    FUZZ_PROMISE(bucket_left(&bucket, &rate, now) <= (int64_t)rate.window_ns);
    FUZZ_PROMISE(bucket_next(&bucket, &rate) >= seat->page->paid_until);
    bucket_bill(&bucket, &rate, own->used % INT64_MAX, now);
    /* Nobody can have more to its credit than the window, whatever others write. */
    FUZZ_PROMISE(bucket_left(&bucket, &rate, now) <= (int64_t)rate.window_ns);
    bucket_change(&bucket, &rate, &other, now);
    bucket_forgive(&bucket, now);
}

void fuzz_page(const uint8_t *data, size_t size) {
    struct own own;
    struct seat seat = {0};
    uint64_t inode;
    if (size < sizeof own)
        return;
    memcpy(&own, data, sizeof own);
    int file = page_with(data + sizeof own, size - sizeof own);
    FUZZ_PROMISE(seat_check(file, &inode) == 0);
    if (seat_take(&seat, file, own.slot, own.number) == 0) {
        FUZZ_PROMISE(own.slot < QUOTA_SLOTS);
        sit(&seat, &own);
        pay(&seat, &own);
        seat_leave(&seat);
    }
    close(file);
}
