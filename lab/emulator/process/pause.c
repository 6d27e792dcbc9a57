/* Emulated time that passes for the calling thread: the cost of the CPU side of a driver. */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "toll.h"

/* The end of a precise wait is spent yielding, as in worker.c. Real ns. */
#define SHORT_WAIT_NS 120000

static uint64_t real_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t real) {
    struct timespec when = {(time_t)(real / 1000000000u), (long)(real % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {
    }
}

void driver_pause(uint64_t emulated_ns) {
    if (driver->model)
        sleep_until(real_now() + (uint64_t)((double)emulated_ns / driver->node->profile.speed));
}

/* Programs make thousands of calls of a few microseconds: a sleep must not delay any of them. */
static void wait_until(uint64_t emulated) {
    uint64_t real = node_real_time(driver->node, emulated);
    if (real > real_now() + SHORT_WAIT_NS)
        sleep_until(real - SHORT_WAIT_NS);
    while (real_now() < real)
        sched_yield();
}

void toll_of_own(uint64_t ns) {
    if (driver->model && ns)
        wait_until(node_now(driver->node) + ns);
}

void toll_of_node(uint64_t ns) {
    if (!driver->model || !ns)
        return;
    uint64_t now = node_lock(driver->node);
    uint64_t *free_at = &driver->node->calls_free_at;
    uint64_t end = (*free_at > now ? *free_at : now) + ns;
    *free_at = end;
    node_unlock(driver->node);
    wait_until(end);
}
