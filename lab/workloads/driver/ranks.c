/* Ranks of a program that uses several GPUs, one each. All do the same in each iteration: kernels
 * of a given length on memory of a given size, then a barrier, by kernels that spin until those of
 * all other ranks have arrived. At the end each checks that its memory is unchanged. A rank is a
 * process, or all are in one process: a thread each, or one thread for all. */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"
#include "meeting.h"
#include "timing.h"

enum { MOST_RANKS = 16, EVERY_RANK = -1 };

struct program {
    uint64_t ranks;
    int rank; /* of this process, or EVERY_RANK */
    const char *meet;
    uint64_t iterations, kernels; /* the second: in an iteration */
    double kernel_us;
    uint64_t memory;
    double startup_s;
    int device;
    bool synchronises; /* after each iteration */
    bool has_threads;
    bool is_managed;
    bool held;
};

struct rank {
    const struct driver_functions *driver;
    const struct program *program;
    const struct meeting *meeting;
    uint64_t number;
    CUcontext context;
    CUstream stream;
    struct blocks blocks;
    CUfunction kernel;
    struct named_kernels named;
    uint64_t wrong;
};

/* A kernel that reads memory writes a result to its beginning, which is not part of the data. */
static const uint64_t skipped = 16;

static void go_to(const struct rank *rank) {
    CHECK(rank->driver, cuCtxSetCurrent, rank->context);
}

static void launch(const struct rank *rank, CUfunction function, void **parameters) {
    CHECK(rank->driver, cuLaunchKernel, function, 256, 1, 1, 256, 1, 1, 0, rank->stream, parameters,
          NULL);
}

static void write_data(const struct rank *rank) {
    uint64_t data = rank->blocks.at[0] + skipped, seed = rank->number + 1;
    uint64_t count = (rank->program->memory - skipped) / sizeof count;
    void *parameters[] = {&data, &count, &seed};
    launch(rank, rank->named.pattern, parameters);
}

static void check_data(struct rank *rank) {
    uint64_t data = rank->blocks.at[0] + skipped, seed = rank->number + 1;
    uint64_t count = (rank->program->memory - skipped) / sizeof count;
    go_to(rank);
    uint64_t out = gpu_allocate(rank->driver, sizeof rank->wrong, GPU_PLAIN);
    void *parameters[] = {&data, &count, &seed, &out};
    CHECK(rank->driver, cuMemsetD8, out, 0, sizeof rank->wrong);
    launch(rank, rank->named.count_mismatches, parameters);
    CHECK(rank->driver, cuStreamSynchronize, rank->stream);
    CHECK(rank->driver, cuMemcpyDtoH, &rank->wrong, out, sizeof rank->wrong);
}

static void prepare(struct rank *rank, int device) {
    const struct driver_functions *driver = rank->driver;
    CHECK(driver, cuDevicePrimaryCtxRetain, &rank->context, device);
    go_to(rank);
    CHECK(driver, cuStreamCreate, &rank->stream, CU_STREAM_NON_BLOCKING);
    rank->blocks = (struct blocks){.cuts = {.count = 2, .at = {0, rank->program->memory}},
                                   .managed = rank->program->is_managed};
    blocks_resize(driver, &rank->blocks, rank->program->memory);
    rank->kernel = blocks_kernel(driver, rank->blocks.count, rank->program->kernel_us);
    rank->named = meeting_kernels(driver);
    write_data(rank);
}

static void iterate(const struct rank *rank, uint64_t round) {
    struct window all = {.first = 0, .count = rank->blocks.count};
    go_to(rank);
    for (uint64_t i = 0; i < rank->program->kernels; i++)
        blocks_launch(rank->driver, &rank->blocks, rank->kernel, all, rank->stream);
    meeting_launch(rank->driver, rank->meeting, rank->named.meet, rank->number, round,
                   rank->stream);
}

static void synchronise(const struct rank *rank) {
    go_to(rank);
    CHECK(rank->driver, cuStreamSynchronize, rank->stream);
}

/* All ranks have to end after the same round, so the writer of `last` names a round that no rank
 * has reached. */
static bool is_over(const struct rank *rank, uint64_t round) {
    uint64_t last = atomic_load(rank->meeting->last);
    return round > rank->program->iterations || (last && round > last);
}

/* One thread serves all these ranks. Before it waits for one of them, it submits the work of
 * all. */
static uint64_t run_ranks(const struct rank *ranks, size_t count) {
    const struct program *program = ranks->program;
    uint64_t round = 1;
    for (; !is_over(ranks, round); round++) {
        for (size_t i = 0; i < count; i++)
            iterate(&ranks[i], round);
        for (size_t i = 0; i < count && program->synchronises; i++)
            synchronise(&ranks[i]);
    }
    for (size_t i = 0; i < count; i++)
        synchronise(&ranks[i]);
    return round - 1;
}

static void *run_one(void *rank) {
    return (void *)(uintptr_t)run_ranks(rank, 1);
}

static uint64_t run_threads(struct rank *ranks, size_t count) {
    void *rounds = NULL;
    pthread_t threads[MOST_RANKS];
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run_one, &ranks[i]) != 0) {
            fprintf(stderr, "driver-ranks: cannot start a thread\n");
            exit(1);
        }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], &rounds);
    return (uint64_t)(uintptr_t)rounds;
}

static uint64_t run(const struct program *program) {
    struct driver_functions driver = driver_load();
    struct start start = timing_start(program->held, program->device);
    struct rank ranks[MOST_RANKS] = {{0}};
    bool is_one = program->rank != EVERY_RANK;
    size_t count = is_one ? 1 : program->ranks;
    timing_sleep_until_s(start.begin_s + program->startup_s);
    gpu_open(&driver, start.device);
    struct meeting meeting = meeting_open(&driver, program->ranks, program->meet);
    for (size_t i = 0; i < count; i++) {
        ranks[i] = (struct rank){.driver = &driver, .program = program, .meeting = &meeting};
        ranks[i].number = is_one ? (uint64_t)program->rank : i;
        prepare(&ranks[i], start.device + (int)i);
    }
    double began = timing_now_s();
    uint64_t rounds = program->has_threads ? run_threads(ranks, count) : run_ranks(ranks, count);
    double ended = timing_now_s();
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        check_data(&ranks[i]);
        wrong += ranks[i].wrong;
    }
    printf("{\"workload\": \"ranks\", \"rank\": %d, \"iterations\": %llu, \"seconds\": %.3f, "
           "\"loop_seconds\": %.3f, \"wrong\": %llu}\n",
           program->rank, (unsigned long long)rounds, timing_now_s() - start.begin_s, ended - began,
           (unsigned long long)wrong);
    return wrong;
}

static void usage(void) {
    fprintf(stderr,
            "usage: driver-ranks --ranks N [--rank N --meet FILE] [--device N] [--threads]\n"
            "                    [--iterations N] [--kernels N] [--kernel SECONDS]\n"
            "                    [--memory BYTES] [--managed] [--sync] [--startup S] [--held]\n"
            "Without --rank, all ranks are in this process: rank 0 on the given GPU, the\n"
            "others on the next GPUs. With --rank, this process is one rank, and the processes\n"
            "meet in FILE, which must be empty or absent at first. They end after N iterations,\n"
            "or after the iteration whose number is written to word 64 (of 64 bits) of FILE.\n");
    exit(2);
}

static void check(const struct program *program) {
    bool is_one = program->rank != EVERY_RANK;
    if (program->ranks < 1 || program->ranks > MOST_RANKS || program->kernel_us <= 0 ||
        program->memory <= skipped || (is_one && !program->meet) ||
        (is_one && (program->rank < 0 || (uint64_t)program->rank >= program->ranks)))
        usage();
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"ranks", required_argument, NULL, 'n'},   {"rank", required_argument, NULL, 'r'},
        {"meet", required_argument, NULL, 'f'},    {"iterations", required_argument, NULL, 'i'},
        {"kernels", required_argument, NULL, 'c'}, {"kernel", required_argument, NULL, 'k'},
        {"memory", required_argument, NULL, 'm'},  {"startup", required_argument, NULL, 'u'},
        {"device", required_argument, NULL, 'd'},  {"managed", no_argument, NULL, 'a'},
        {"sync", no_argument, NULL, 's'},          {"threads", no_argument, NULL, 't'},
        {"held", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    struct program program = {
        .rank = EVERY_RANK, .iterations = 100, .kernels = 1, .kernel_us = 5000, .memory = 1 << 20};
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case 'n': program.ranks = strtoull(optarg, NULL, 10); break;
        case 'r': program.rank = atoi(optarg); break;
        case 'f': program.meet = optarg; break;
        case 'i': program.iterations = strtoull(optarg, NULL, 10); break;
        case 'c': program.kernels = strtoull(optarg, NULL, 10); break;
        case 'k': program.kernel_us = strtod(optarg, NULL) * 1e6; break;
        case 'm': program.memory = strtoull(optarg, NULL, 10); break;
        case 'u': program.startup_s = strtod(optarg, NULL); break;
        case 'd': program.device = atoi(optarg); break;
        case 'a': program.is_managed = true; break;
        case 's': program.synchronises = true; break;
        case 't': program.has_threads = true; break;
        case 'h': program.held = true; break;
        default: usage();
        }
    }
    if (optind < argc)
        usage();
    check(&program);
    return run(&program) ? 1 : 0;
}
