/* A program that runs the phases of a scenario file, with their memory, copies, kernels and rests.
 * `nvshare bench scenario` runs it if a scenario names no workload. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"
#include "timing.h"

struct program {
    struct phase phases[MAX_PHASES];
    size_t count;
    double startup_s;
    int device;
    bool managed, held;
    const char *bursts; /* a file for the reports of bursts, or NULL */
};

/* The progress so far. */
struct progress {
    struct start start;
    FILE *bursts;
    uint64_t iterations;
    double loop_began_s, loop_ended_s;
};

static double jitter(const struct phase *phase) {
    return phase->idle_jitter_s > 0 ? phase->idle_jitter_s * drand48() : 0;
}

/* The time until the next request: they come at random, `rate` per second on average. */
static double next_request(const struct phase *phase) {
    return -log(1 - drand48()) / phase->rate;
}

/* In seconds of CLOCK_MONOTONIC times the speed of the node: the reader knows both. It is written
 * at once, since the program may be ended while it waits. */
static void tell(FILE *bursts, const char *what, double instant) {
    if (!bursts)
        return;
    fprintf(bursts, "%s %.6f\n", what, instant);
    fflush(bursts);
}

static void iterate(const struct driver_functions *driver, const struct blocks *blocks,
                    const struct phase *phase, FILE *bursts) {
    uint64_t windows = phase_windows(phase), launched = 0;
    CUfunction kernels[MAX_CUTS];
    struct window places[MAX_CUTS];
    for (uint64_t w = 0; w < windows; w++) {
        uint64_t begin = phase_window(phase, w);
        places[w] = blocks_between(blocks, begin, begin + phase->touch);
        kernels[w] = blocks_kernel(driver, places[w].count, phase->kernel_us);
    }
    bool rests = phase->idle_s > 0 || phase->idle_jitter_s > 0;
    double wanted = timing_now_s();
    for (uint64_t i = 0; i < phase->iterations; i++) {
        if (phase->rate > 0)
            timing_sleep_until_s(wanted += next_request(phase));
        else
            wanted = timing_now_s();
        tell(bursts, "wants", wanted);
        for (uint64_t k = 0; k < phase->kernels; k++, launched++) {
            blocks_launch(driver, blocks, kernels[launched % windows], places[launched % windows],
                          NULL);
            if (k == 0)
                tell(bursts, "begins", timing_now_s());
        }
        if (phase->sync || rests || phase->rate > 0)
            CHECK(driver, cuCtxSynchronize);
        if (rests)
            timing_sleep_s(phase->idle_s + jitter(phase));
    }
    CHECK(driver, cuCtxSynchronize);
}

static void go_through(const struct driver_functions *driver, struct blocks *blocks,
                       const struct phase *phase, struct progress *progress) {
    if (phase->wait_s > 0)
        timing_sleep_s(phase->wait_s);
    printf("%.3f", timing_now_s() - progress->start.begin_s);
    blocks_resize(driver, blocks, phase->memory);
    blocks_copy_in(driver, blocks, phase->copy_in);
    if (!phase->iterations)
        return;
    if (!progress->iterations)
        progress->loop_began_s = timing_now_s();
    iterate(driver, blocks, phase, progress->bursts);
    progress->iterations += phase->iterations;
    progress->loop_ended_s = timing_now_s();
}

static void run(const struct program *program) {
    struct driver_functions driver = driver_load();
    struct progress progress = {.start = timing_start(program->held, program->device)};
    struct blocks blocks = {.cuts = phase_cuts(program->phases, program->count),
                            .managed = program->managed};
    if (program->bursts && !(progress.bursts = fopen(program->bursts, "w"))) {
        perror(program->bursts);
        exit(1);
    }
    timing_sleep_until_s(progress.start.begin_s + program->startup_s);
    gpu_open(&driver, progress.start.device);
    fputs("{\"workload\": \"phases\", \"phases\": [", stdout);
    for (size_t i = 0; i < program->count; i++) {
        if (i)
            fputs(", ", stdout);
        go_through(&driver, &blocks, &program->phases[i], &progress);
    }
    double loop_s = progress.loop_ended_s - progress.loop_began_s;
    printf("], \"iterations\": %llu, \"seconds\": %.3f, \"loop_seconds\": %.3f, "
           "\"iterations_per_s\": %.3f}\n",
           (unsigned long long)progress.iterations, timing_now_s() - progress.start.begin_s, loop_s,
           loop_s > 0 ? (double)progress.iterations / loop_s : 0);
}

static void usage(void) {
    fprintf(stderr,
            "usage: driver-phases --phase FIELD=VALUE,... [--phase ...] [--startup S]\n"
            "                     [--device N] [--seed N] [--managed] [--held] [--bursts FILE]\n");
    exit(2);
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"phase", required_argument, NULL, 'f'},  {"startup", required_argument, NULL, 'u'},
        {"device", required_argument, NULL, 'd'}, {"seed", required_argument, NULL, 's'},
        {"managed", no_argument, NULL, 'm'},      {"held", no_argument, NULL, 'h'},
        {"bursts", required_argument, NULL, 'b'}, {NULL, 0, NULL, 0},
    };
    static struct program program;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case 'f':
            if (program.count == MAX_PHASES)
                usage();
            program.phases[program.count++] = phase_read(optarg);
            break;
        case 'u': program.startup_s = strtod(optarg, NULL); break;
        case 'd': program.device = atoi(optarg); break;
        case 's': srand48(atol(optarg)); break;
        case 'm': program.managed = true; break;
        case 'h': program.held = true; break;
        case 'b': program.bursts = optarg; break;
        default: usage();
        }
    }
    if (!program.count || optind < argc)
        usage();
    run(&program);
    return 0;
}
