/* Launches an empty kernel repeatedly, and notes the end of each launch that had to wait: the first
 * kernel of a turn.
 *
 *     turn-taker SECONDS WAIT_US
 *
 * A launch that took longer than WAIT_US counts as one that waited. At the end it prints the
 * instant at which each of them returned, in nanoseconds of CLOCK_MONOTONIC. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../workloads/driver/driver.h"

enum { MOST_TURNS = 1 << 20 };

static const char KERNEL[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                             ".visible .entry nothing()\n{\n  ret;\n}\n";

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static CUfunction load_kernel(const struct driver_functions *driver) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CHECK(driver, cuInit, 0);
    CHECK(driver, cuDeviceGet, &device, 0);
    CHECK(driver, cuDevicePrimaryCtxRetain, &context, device);
    CHECK(driver, cuCtxSetCurrent, context);
    CHECK(driver, cuModuleLoadData, &module, KERNEL);
    CHECK(driver, cuModuleGetFunction, &function, module, "nothing");
    return function;
}

static size_t take_turns(const struct driver_functions *driver, CUfunction function, uint64_t until,
                         uint64_t wait_ns, uint64_t *turns) {
    size_t count = 0;
    for (uint64_t before = now_ns(); before < until && count < MOST_TURNS;) {
        CHECK(driver, cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        uint64_t after = now_ns();
        if (after - before > wait_ns)
            turns[count++] = after;
        before = after;
    }
    return count;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: turn-taker SECONDS WAIT_US\n");
        return 2;
    }
    struct driver_functions driver = driver_load();
    CUfunction function = load_kernel(&driver);
    uint64_t *turns = calloc(MOST_TURNS, sizeof *turns);
    if (!turns)
        return 1;
    uint64_t until = now_ns() + (uint64_t)(atof(argv[1]) * 1e9);
    size_t count = take_turns(&driver, function, until, (uint64_t)(atof(argv[2]) * 1e3), turns);
    for (size_t i = 0; i < count; i++)
        printf("%llu\n", (unsigned long long)turns[i]);
    free(turns);
    return 0;
}
