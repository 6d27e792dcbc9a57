/* A program that runs kernels of one length until it gets SIGTERM: one after the other, or in
 * bursts with rests between them. `nvshare bench shares` runs it. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "latency.h"
#include "timing.h"

enum style {
    ASYNC,   /* launches as fast as it can */
    SYNC,    /* waits for each one */
    GRAPH,   /* launches graphs of them, as fast as it can */
    CAPTURE, /* the same, with a new graph each time */
};

struct program {
    enum style style;
    double kernel_us;
    uint64_t graph_kernels; /* in one graph */
    uint64_t burst;         /* calls before a rest; 0: it never rests */
    double rest_s, rest_jitter_s;
    double warm_up_s; /* bursts that begin before this are not reported */
    uint64_t memory;
    double startup_s;
    int device;
    bool held;
};

/* The kernel or graph to launch, and its stream. */
struct work {
    struct blocks blocks;
    CUfunction kernel;
    CUstream stream;
    CUgraphExec graph;
};

static volatile sig_atomic_t is_to_end;

static void end(int signal) {
    (void)signal;
    is_to_end = 1;
}

static void end_when_told(void) {
    struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
}

static void launch_kernel(const struct driver_functions *driver, const struct work *work) {
    struct window all = {.first = 0, .count = work->blocks.count};
    blocks_launch(driver, &work->blocks, work->kernel, all, work->stream);
}

static CUgraphExec make_graph(const struct driver_functions *driver, const struct work *work,
                              uint64_t kernels) {
    CUgraph graph;
    CUgraphExec executable;
    CHECK(driver, cuStreamBeginCapture, work->stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    for (uint64_t i = 0; i < kernels; i++)
        launch_kernel(driver, work);
    CHECK(driver, cuStreamEndCapture, work->stream, &graph);
    CHECK(driver, cuGraphInstantiateWithFlags, &executable, graph, 0);
    CHECK(driver, cuGraphDestroy, graph);
    return executable;
}

static void launch_new_graph(const struct driver_functions *driver, const struct work *work,
                             uint64_t kernels) {
    CUgraphExec graph = make_graph(driver, work, kernels);
    CHECK(driver, cuGraphLaunch, graph, work->stream);
    CHECK(driver, cuGraphExecDestroy, graph);
}

static struct work prepare(const struct driver_functions *driver, const struct program *program) {
    struct work work = {.blocks.cuts = {.count = 2, .at = {0, program->memory}}};
    CHECK(driver, cuStreamCreate, &work.stream, CU_STREAM_NON_BLOCKING);
    blocks_resize(driver, &work.blocks, program->memory);
    work.kernel = blocks_kernel(driver, work.blocks.count, program->kernel_us);
    if (program->style == GRAPH)
        work.graph = make_graph(driver, &work, program->graph_kernels);
    return work;
}

static void launch(const struct driver_functions *driver, const struct program *program,
                   const struct work *work) {
    switch (program->style) {
    case GRAPH: CHECK(driver, cuGraphLaunch, work->graph, work->stream); break;
    case CAPTURE: launch_new_graph(driver, work, program->graph_kernels); break;
    default: launch_kernel(driver, work);
    }
    if (program->style == SYNC)
        CHECK(driver, cuStreamSynchronize, work->stream);
}

/* The time from the first launch to the end of the last kernel. */
static double run_burst(const struct driver_functions *driver, const struct program *program,
                        const struct work *work) {
    double began = timing_now_s();
    for (uint64_t i = 0; i < program->burst; i++)
        launch(driver, program, work);
    CHECK(driver, cuStreamSynchronize, work->stream);
    return timing_now_s() - began;
}

static void run(const struct program *program) {
    struct driver_functions driver = driver_load();
    struct start start = timing_start(program->held, program->device);
    struct latencies latencies = {0};
    uint64_t calls = 0;
    timing_sleep_until_s(start.begin_s + program->startup_s);
    gpu_open(&driver, start.device);
    struct work work = prepare(&driver, program);
    while (!is_to_end) {
        if (!program->burst) {
            launch(&driver, program, &work);
            calls++;
            continue;
        }
        bool is_told = timing_now_s() >= start.begin_s + program->warm_up_s;
        double seconds = run_burst(&driver, program, &work);
        if (is_told)
            latencies_add(&latencies, seconds);
        calls += program->burst;
        timing_sleep_s(program->rest_s + program->rest_jitter_s * drand48());
    }
    CHECK(&driver, cuCtxSynchronize);
    printf("{\"workload\": \"kernels\", \"calls\": %llu, \"seconds\": %.3f, \"latencies\": [",
           (unsigned long long)calls, timing_now_s() - start.begin_s);
    latencies_print(&latencies);
    puts("]}");
}

static void usage(void) {
    fprintf(
        stderr,
        "usage: driver-kernels [--style async|sync|graph|capture] [--kernel SECONDS]\n"
        "                      [--graph-kernels N] [--burst CALLS] [--rest S] [--rest-jitter S]\n"
        "                      [--memory BYTES] [--startup S] [--device N] [--seed N] [--held]\n"
        "The program ends when it receives SIGTERM.\n");
    exit(2);
}

static enum style style_named(const char *name) {
    static const char *const NAMES[] = {
        [ASYNC] = "async", [SYNC] = "sync", [GRAPH] = "graph", [CAPTURE] = "capture"};
    for (enum style style = ASYNC; style <= CAPTURE; style++)
        if (strcmp(name, NAMES[style]) == 0)
            return style;
    usage();
    return ASYNC;
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"style", required_argument, NULL, 't'},
        {"kernel", required_argument, NULL, 'k'},
        {"graph-kernels", required_argument, NULL, 'g'},
        {"burst", required_argument, NULL, 'b'},
        {"rest", required_argument, NULL, 'r'},
        {"rest-jitter", required_argument, NULL, 'j'},
        {"warm-up", required_argument, NULL, 'w'},
        {"memory", required_argument, NULL, 'm'},
        {"startup", required_argument, NULL, 'u'},
        {"device", required_argument, NULL, 'd'},
        {"seed", required_argument, NULL, 's'},
        {"held", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct program program = {.kernel_us = 5000, .graph_kernels = 4, .memory = 1 << 20};
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case 't': program.style = style_named(optarg); break;
        case 'k': program.kernel_us = strtod(optarg, NULL) * 1e6; break;
        case 'g': program.graph_kernels = strtoull(optarg, NULL, 10); break;
        case 'b': program.burst = strtoull(optarg, NULL, 10); break;
        case 'r': program.rest_s = strtod(optarg, NULL); break;
        case 'j': program.rest_jitter_s = strtod(optarg, NULL); break;
        case 'w': program.warm_up_s = strtod(optarg, NULL); break;
        case 'm': program.memory = strtoull(optarg, NULL, 10); break;
        case 'u': program.startup_s = strtod(optarg, NULL); break;
        case 'd': program.device = atoi(optarg); break;
        case 's': srand48(atol(optarg)); break;
        case 'h': program.held = true; break;
        default: usage();
        }
    }
    if (optind < argc || program.kernel_us <= 0 || !program.memory)
        usage();
    end_when_told();
    run(&program);
    return 0;
}
