#include <stdio.h>
#include <unistd.h>

#include "fuzzer.h"

void fail(const char *what, CUresult result) {
    const char *name = "";
    cuGetErrorName(result, &name);
    fprintf(stderr, "fuzzer: %s: %s\n", what, name ? name : "?");
    _exit(1);
}

uint64_t next_random(struct fuzzer *f) {
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random;
}

bool chance(struct fuzzer *f, unsigned one_in) {
    return next_random(f) % one_in == 0;
}

CUstream any_stream(struct fuzzer *f) {
    return f->streams[next_random(f) % STREAMS];
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

void keep_busy(struct fuzzer *f, CUstream stream, uint64_t microseconds) {
    uint64_t time = next_random(f) % microseconds;
    void *parameters[] = {&time};
    DO(cuLaunchKernel(f->spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}
