/* The quota page of a group, into which every member can write anything (own_slot.c, bucket.c).
 *
 * The input is a few numbers, and then the beginning of a page. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/own_slot.h"
#include "shares/bucket.h"
#include "targets.h"

struct input {
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

static void use_memory(struct own_slot *own, const struct input *input) {
    uint64_t limit = own_slot_limit(own);
    uint64_t used = input->used / 2, bytes = input->bytes / 2;
    if (own_slot_reserve(own, used, bytes) == 0)
        FUZZ_PROMISE(used + bytes <= limit);
    own_slot_keep(own, input->bytes);
    own_slot_tell(own, used);
    FUZZ_PROMISE(own_slot_group_used(own, used) >= used);
    own_slot_limit_source(own);
}

static void pay(struct own_slot *own, const struct input *input) {
    struct bucket bucket = {&own->page->paid_until};
    /* Within the range of LIMITS. */
    struct rate rate = {1 + input->share_ppm % 1000000,
                        input->window_ns % ((uint64_t)UINT32_MAX * 1000)};
    struct rate other = {1000000, rate.window_ns / 2};
    uint64_t now = input->now % INT64_MAX;
    FUZZ_PROMISE(bucket_left(&bucket, &rate, now) <= (int64_t)rate.window_ns);
    FUZZ_PROMISE(bucket_next(&bucket, &rate) >= own->page->paid_until);
    bucket_bill(&bucket, &rate, input->used % INT64_MAX, now);
    /* A process's credit is at most the window, whatever others write. */
    FUZZ_PROMISE(bucket_left(&bucket, &rate, now) <= (int64_t)rate.window_ns);
    bucket_change(&bucket, &rate, &other, now);
    bucket_forgive(&bucket, now);
}

void fuzz_page(const uint8_t *data, size_t size) {
    struct input input;
    struct own_slot own = {0};
    if (size < sizeof input)
        return;
    memcpy(&input, data, sizeof input);
    int file = page_with(data + sizeof input, size - sizeof input);
    FUZZ_PROMISE(own_slot_check(file) == 0);
    if (own_slot_take(&own, file, input.slot, input.number) == 0) {
        FUZZ_PROMISE(input.slot < QUOTA_SLOTS);
        use_memory(&own, &input);
        pay(&own, &input);
        own_slot_leave(&own);
    }
    close(file);
}
