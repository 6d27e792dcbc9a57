/* Limits that a program sets for itself. */
#include <sys/resource.h>

#include "habits.h"

static void limit(int which, rlim_t most) {
    const struct rlimit to = {most, most};
    MUST(setrlimit(which, &to) == 0);
}

static void no_descriptors(void) {
    limit(RLIMIT_NOFILE, 0);
}

static void few_descriptors(void) {
    limit(RLIMIT_NOFILE, 16);
}

/* Less would be too little for the emulated driver, whose physical memory is files. */
static void small_files(void) {
    limit(RLIMIT_FSIZE, 64 << 20);
}

static void no_locked_memory(void) {
    limit(RLIMIT_MEMLOCK, 0);
}

static void no_queued_signals(void) {
    limit(RLIMIT_SIGPENDING, 0);
}

static void no_processes(void) {
    limit(RLIMIT_NPROC, 1);
}

static void small_stacks(void) {
    limit(RLIMIT_STACK, 64 << 10);
}

static void no_core_and_little_time(void) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, 3600);
    limit(RLIMIT_NICE, 0);
    limit(RLIMIT_RTPRIO, 0);
}

const struct habit of_limits[] = {
    HABIT(no_descriptors),   HABIT(few_descriptors),         HABIT(small_files),
    HABIT(no_locked_memory), HABIT(no_queued_signals),       HABIT(no_processes),
    HABIT(small_stacks),     HABIT(no_core_and_little_time), {0},
};
