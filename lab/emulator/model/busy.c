/* The recent utilisation of a GPU and its users, in buckets of a tenth of an emulated second. */
#include "busy.h"

/* Of an interval longer than all buckets only the end matters. */
static void note(uint64_t *bucket, uint32_t *busy, uint64_t from, uint64_t ns) {
    uint64_t span = BUSY_BUCKETS * BUSY_BUCKET_NS;
    if (ns > span) {
        from += ns - span;
        ns = span;
    }
    while (ns) {
        uint64_t number = from / BUSY_BUCKET_NS;
        uint64_t rest = (number + 1) * BUSY_BUCKET_NS - from;
        uint64_t part = ns < rest ? ns : rest;
        uint32_t i = (uint32_t)(number % BUSY_BUCKETS);
        if (bucket[i] != number) {
            bucket[i] = number;
            busy[i] = 0;
        }
        busy[i] += (uint32_t)part;
        from += part;
        ns -= part;
    }
}

static uint32_t percent(const uint64_t *bucket, const uint32_t *busy, uint64_t now, uint32_t age) {
    uint64_t number = now / BUSY_BUCKET_NS;
    if (number < age)
        return 0;
    uint32_t i = (uint32_t)((number - age) % BUSY_BUCKETS);
    if (bucket[i] != number - age)
        return 0;
    uint64_t rounded = ((uint64_t)busy[i] * 100 + BUSY_BUCKET_NS / 2) / BUSY_BUCKET_NS;
    return rounded < 100 ? (uint32_t)rounded : 100; /* a crash can make a step count twice */
}

void busy_note_gpu(struct gpu *gpu, uint64_t from, uint64_t ns) {
    gpu->busy_total_ns += ns;
    note(gpu->busy_bucket, gpu->busy_ns, from, ns);
}

void busy_note_account(struct account *account, uint64_t from, uint64_t ns) {
    note(account->busy_bucket, account->busy_ns, from, ns);
}

uint32_t busy_percent_gpu(const struct gpu *gpu, uint64_t now, uint32_t age) {
    return percent(gpu->busy_bucket, gpu->busy_ns, now, age);
}

uint32_t busy_percent_account(const struct account *account, uint64_t now, uint32_t age) {
    return percent(account->busy_bucket, account->busy_ns, now, age);
}
