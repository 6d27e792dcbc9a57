/* The cost of one driver call for the caller: the best of several rounds, in nanoseconds.
 *
 *     call-cost launch|copy|info|alloc|alloc-10000|large|touch [CALLS] [ROUNDS]
 *
 * Prints one JSON line. On an emulated node with NVSHARE_EMULATOR_MODEL=off it shows the bare cost;
 * under an interposer, the cost that it adds. The cost of large allocations, and of their first
 * use, is mostly the driver's, so it is measured with the model on. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../workloads/driver/driver.h"

static const char KERNEL[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry nothing(.param .u64 x, .param .u64 y, .param .u64 z, .param .u64 n)\n"
    "{\n  ret;\n}\n";

struct bench {
    struct driver_functions driver;
    CUfunction function;
    CUdeviceptr memory;
};

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void launch(struct bench *b) {
    uint64_t count = 1;
    void *parameters[] = {&b->memory, &b->memory, &b->memory, &count};
    CHECK(&b->driver, cuLaunchKernel, b->function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
}

static void copy(struct bench *b) {
    uint32_t word = 0;
    CHECK(&b->driver, cuMemcpyHtoD, b->memory, &word, sizeof word);
}

static void info(struct bench *b) {
    size_t free_bytes, total;
    CHECK(&b->driver, cuMemGetInfo, &free_bytes, &total);
}

static void alloc(struct bench *b) {
    CUdeviceptr address;
    CHECK(&b->driver, cuMemAlloc, &address, 4096);
    CHECK(&b->driver, cuMemFree, address);
}

enum { LARGE = 64 << 20 };

static void large(struct bench *b) {
    CUdeviceptr address;
    CHECK(&b->driver, cuMemAlloc, &address, LARGE);
    CHECK(&b->driver, cuMemFree, address);
}

static void touch(struct bench *b) {
    CUdeviceptr address;
    CHECK(&b->driver, cuMemAlloc, &address, LARGE);
    CHECK(&b->driver, cuMemsetD8, address, 1, LARGE);
    CHECK(&b->driver, cuCtxSynchronize);
    CHECK(&b->driver, cuMemFree, address);
}

/* Existing allocations, which slow down any search that goes through them one by one. */
static void fill(struct bench *b) {
    CUdeviceptr address;
    for (int i = 0; i < 10000; i++)
        CHECK(&b->driver, cuMemAlloc, &address, 256);
}

static void nothing(struct bench *b) {
    (void)b;
}

static const struct {
    const char *name;
    void (*before)(struct bench *b);
    void (*call)(struct bench *b);
} KNOWN[] = {{"launch", nothing, launch}, {"copy", nothing, copy},      {"info", nothing, info},
             {"alloc", nothing, alloc},   {"alloc-10000", fill, alloc}, {"large", nothing, large},
             {"touch", nothing, touch}};

static void prepare(struct bench *b) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    b->driver = driver_load();
    CHECK(&b->driver, cuInit, 0);
    CHECK(&b->driver, cuDeviceGet, &device, 0);
    CHECK(&b->driver, cuDevicePrimaryCtxRetain, &context, device);
    CHECK(&b->driver, cuCtxSetCurrent, context);
    CHECK(&b->driver, cuModuleLoadData, &module, KERNEL);
    CHECK(&b->driver, cuModuleGetFunction, &b->function, module, "nothing");
    /* Stays allocated, so that the measured pair finds the driver's heap in use. */
    CHECK(&b->driver, cuMemAlloc, &b->memory, 4096);
    /* Always managed: an interposer that makes memory managed must not be charged for the driver's
     * handling of managed memory. */
    CHECK(&b->driver, cuMemAllocManaged, &b->memory, 4096, CU_MEM_ATTACH_GLOBAL);
}

/* The fastest round is the undisturbed one. Between rounds the queue drains. */
static double best_ns(struct bench *b, void (*call)(struct bench *b), long calls, long rounds) {
    double best = 0;
    for (long round = 0; round < rounds; round++) {
        CHECK(&b->driver, cuCtxSynchronize);
        double began = now_ns();
        for (long i = 0; i < calls; i++)
            call(b);
        double each = (now_ns() - began) / (double)calls;
        if (round == 0 || each < best)
            best = each;
    }
    return best;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    long calls = argc > 2 ? atol(argv[2]) : 1000, rounds = argc > 3 ? atol(argv[3]) : 20;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (strcmp(KNOWN[i].name, what) != 0)
            continue;
        struct bench b;
        prepare(&b);
        KNOWN[i].before(&b);
        printf("{\"what\": \"%s\", \"ns\": %.2f}\n", what,
               best_ns(&b, KNOWN[i].call, calls, rounds));
        return 0;
    }
    fprintf(stderr,
            "usage: call-cost launch|copy|info|alloc|alloc-10000|large|touch [CALLS] [ROUNDS]\n");
    return 2;
}
