/* Work on items: written, copied, checked. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzzer.h"

uint64_t next_random(struct fuzzer *f) {
    return random_after(&f->random);
}

bool chance(struct fuzzer *f, unsigned one_in) {
    return next_random(f) % one_in == 0;
}

CUstream any_stream(struct fuzzer *f) {
    return f->streams[next_random(f) % STREAMS];
}

/* Work on an item: after all earlier work on it, and before all later work. */
CUstream begin(struct fuzzer *f, const struct item *item) {
    CUstream stream = any_stream(f);
    DO(cuStreamWaitEvent(stream, item->used, 0));
    return stream;
}

void end(const struct item *item, CUstream stream) {
    DO(cuEventRecord(item->used, stream));
}

void launch_pattern(struct fuzzer *f, CUdeviceptr at, uint64_t words, uint64_t seed,
                    CUstream stream) {
    void *parameters[] = {&at, &words, &seed};
    DO(cuLaunchKernel(f->pattern, 16, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
}

void launch_count(struct fuzzer *f, CUdeviceptr at, uint64_t words, uint64_t seed,
                  CUstream stream) {
    void *parameters[] = {&at, &words, &seed, &f->wrong};
    DO(cuLaunchKernel(f->count, 16, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
}

void write_item(struct fuzzer *f, struct item *item) {
    CUstream stream = begin(f, item);
    item->seed = next_random(f);
    launch_pattern(f, item->at, item->words, item->seed, stream);
    end(item, stream);
}

void check_item(struct fuzzer *f, struct item *item) {
    CUstream stream = begin(f, item);
    bool by_alias = item->alias && chance(f, 2);
    launch_count(f, by_alias ? item->alias : item->at, item->words, item->seed, stream);
    end(item, stream);
}

/* All checks so far have succeeded. */
void see(struct fuzzer *f) {
    uint64_t wrong = 0;
    for (int i = 0; i < STREAMS; i++)
        DO(cuStreamSynchronize(f->streams[i]));
    DO(cuMemcpyDtoH(&wrong, f->wrong, sizeof wrong));
    if (!wrong)
        return;
    fprintf(stderr, "fuzzer: %" PRIu64 " words are wrong, by step %" PRIu64 "\n", wrong, f->steps);
    _exit(1);
}

void copy_item(struct fuzzer *f, struct item *from) {
    struct item *to = &f->items[next_random(f) % ITEMS];
    if (to == from || to->kind == NONE || to->words > from->words)
        return;
    CUstream stream = begin(f, from);
    DO(cuStreamWaitEvent(stream, to->used, 0));
    DO(cuMemcpyDtoDAsync(to->at, from->at, to->words * 8, stream));
    to->seed = from->seed;
    end(from, stream);
    end(to, stream);
}

/* Through memory that is not page-locked: the driver copies it piece by piece during the call. */
void copy_through_host(struct fuzzer *f, struct item *from) {
    struct item *to = &f->items[next_random(f) % ITEMS];
    if (to->kind == NONE || to->words > from->words)
        return;
    CUstream stream = begin(f, from);
    DO(cuMemcpyDtoHAsync(f->host, from->at, to->words * 8, stream));
    end(from, stream);
    DO(cuStreamSynchronize(stream));
    stream = begin(f, to);
    DO(cuMemcpyHtoDAsync(to->at, f->host, to->words * 8, stream));
    to->seed = from->seed;
    end(to, stream);
}

void ask_about(const struct item *item) {
    CUdeviceptr base;
    size_t bytes;
    DO(cuMemGetAddressRange(&base, &bytes, item->at));
    if (base != item->at || bytes < item->words * 8)
        fail("cuMemGetAddressRange", CUDA_SUCCESS);
}

void keep_busy(struct fuzzer *f, CUstream stream, uint64_t microseconds) {
    uint64_t time = next_random(f) % microseconds;
    void *parameters[] = {&time};
    DO(cuLaunchKernel(f->spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}
