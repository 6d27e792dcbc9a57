/* The GPU work of pytorch-add and its two variants, without PyTorch: copies x and y to the GPU,
 * then computes z = x + y repeatedly. Two z's are alive, since PyTorch allocates the next one
 * before it frees the last. See ../README.md. */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "timing.h"

static const char KERNEL[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry vector_add(.param .u64 x, .param .u64 y, .param .u64 z, .param .u64 n)\n{\n"
    "  .reg .pred %p; .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %rd<10>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mul.wide.u32 %rd1, %r1, %r2; cvt.u64.u32 %rd2, %r3; add.u64 %rd1, %rd1, %rd2;\n"
    "  ld.param.u64 %rd3, [n]; setp.ge.u64 %p, %rd1, %rd3; @%p bra DONE;\n"
    "  ld.param.u64 %rd4, [x]; ld.param.u64 %rd5, [y]; ld.param.u64 %rd6, [z];\n"
    "  shl.b64 %rd7, %rd1, 2;\n"
    "  add.u64 %rd4, %rd4, %rd7; add.u64 %rd5, %rd5, %rd7; add.u64 %rd6, %rd6, %rd7;\n"
    "  ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5];\n"
    "  add.f32 %f3, %f1, %f2; st.global.f32 [%rd6], %f3;\n"
    "DONE: ret;\n}\n";

struct workload {
    const char *name;
    uint64_t side; /* of the square matrices */
    uint64_t iterations;
    double sleep_s;   /* after each iteration, and a synchronisation before it; 0: neither */
    double late_s;    /* at most so much longer, at random, as on a busy machine */
    double startup_s; /* the time that an interpreter needs before it reaches the GPU */
    int device;
    enum gpu_memory memory;
    bool held;            /* begins when standard input says so */
    const char *progress; /* file that regularly gets the number of the iteration */
};

static const struct workload KNOWN[] = {
    {.name = "pytorch-add", .side = 28000, .iterations = 4000},
    {.name = "pytorch-add-small", .side = 14000, .iterations = 40000},
    {.name = "pytorch-add-idle-small", .side = 14000, .iterations = 4000, .sleep_s = 0.1},
};

struct buffers {
    CUdeviceptr x, y, z[2];
};

static struct buffers make_buffers(const struct driver_functions *driver,
                                   const struct workload *w) {
    size_t bytes = w->side * w->side * sizeof(float);
    struct buffers buffers;
    buffers.x = gpu_allocate(driver, bytes, w->memory);
    gpu_copy_in(driver, buffers.x, bytes);
    buffers.y = gpu_allocate(driver, bytes, w->memory);
    gpu_copy_in(driver, buffers.y, bytes);
    buffers.z[0] = gpu_allocate(driver, bytes, w->memory);
    buffers.z[1] = gpu_allocate(driver, bytes, w->memory);
    return buffers;
}

static void note_progress(const struct workload *w, uint64_t iteration) {
    if (!w->progress || iteration % 16)
        return;
    FILE *file = fopen(w->progress, "w");
    if (file) {
        fprintf(file, "%llu\n", (unsigned long long)iteration);
        fclose(file);
    }
}

static void iterate(const struct driver_functions *driver, const struct workload *w,
                    CUfunction function, struct buffers *buffers) {
    uint64_t n = w->side * w->side;
    for (uint64_t i = 0; i < w->iterations; i++) {
        void *parameters[] = {&buffers->x, &buffers->y, &buffers->z[i % 2], &n};
        CHECK(driver, cuLaunchKernel, function, (unsigned)((n + 255) / 256), 1, 1, 256, 1, 1, 0,
              NULL, parameters, NULL);
        if (w->sleep_s > 0) {
            CHECK(driver, cuCtxSynchronize);
            timing_sleep_s(w->sleep_s + w->late_s * drand48());
        }
        note_progress(w, i);
    }
    CHECK(driver, cuCtxSynchronize);
}

static void run(const struct workload *w) {
    struct driver_functions driver = driver_load();
    struct start start = timing_start(w->held, w->device);
    timing_sleep_until_s(start.begin_s + w->startup_s);
    gpu_open(&driver, start.device);
    CUfunction function = gpu_load(&driver, KERNEL, "vector_add");
    struct buffers buffers = make_buffers(&driver, w);
    double loop_began = timing_now_s();
    iterate(&driver, w, function, &buffers);
    double ended = timing_now_s();
    printf("{\"workload\": \"%s\", \"iterations\": %llu, \"seconds\": %.3f, "
           "\"loop_seconds\": %.3f, \"iterations_per_s\": %.3f}\n",
           w->name, (unsigned long long)w->iterations, ended - start.begin_s, ended - loop_began,
           (double)w->iterations / (ended - loop_began));
}

static void usage(void) {
    fprintf(stderr, "usage: driver-add NAME [--iterations N] [--side N] [--sleep S] [--late S]\n"
                    "                  [--seed N] [--startup S] [--device N] [--managed] [--held]\n"
                    "                  [--allocate plain|managed|handles|pool] [--progress FILE]\n"
                    "NAME is pytorch-add, pytorch-add-small or pytorch-add-idle-small.\n");
    exit(2);
}

static struct workload named(const char *name) {
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        if (strcmp(KNOWN[i].name, name) == 0)
            return KNOWN[i];
    usage();
    return KNOWN[0];
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"iterations", required_argument, NULL, 'i'},
        {"side", required_argument, NULL, 'n'},
        {"sleep", required_argument, NULL, 's'},
        {"startup", required_argument, NULL, 'u'},
        {"device", required_argument, NULL, 'd'},
        {"managed", no_argument, NULL, 'm'},
        {"allocate", required_argument, NULL, 'a'},
        {"progress", required_argument, NULL, 'p'},
        {"held", no_argument, NULL, 'h'},
        {"late", required_argument, NULL, 'l'},
        {"seed", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    if (argc < 2)
        usage();
    struct workload w = named(argv[1]);
    for (int option; (option = getopt_long(argc - 1, argv + 1, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case 'i': w.iterations = strtoull(optarg, NULL, 10); break;
        case 'n': w.side = strtoull(optarg, NULL, 10); break;
        case 's': w.sleep_s = strtod(optarg, NULL); break;
        case 'u': w.startup_s = strtod(optarg, NULL); break;
        case 'd': w.device = atoi(optarg); break;
        case 'm': w.memory = GPU_MANAGED; break;
        case 'a': w.memory = gpu_memory_named(optarg); break;
        case 'h': w.held = true; break;
        case 'l': w.late_s = strtod(optarg, NULL); break;
        case 'r': srand48(atol(optarg)); break;
        case 'p': w.progress = optarg; break;
        default: usage();
        }
    }
    run(&w);
    return 0;
}
