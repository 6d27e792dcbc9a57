/* What pytorch-add and its two sisters do to a GPU, without PyTorch: x and y are copied to the GPU,
 * then z = x + y again and again. Two z's are alive, since PyTorch has the next one before it lets
 * go of the last. See ../README.md.
 *
 * On an emulated node all times are emulated seconds: NVSHARE_EMULATOR_SPEED says how many there are
 * in a real one. */
#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "driver.h"

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
    double startup_s; /* what an interpreter needs before it gets to the GPU */
    int device;
    bool managed;
    const char *progress; /* file that gets the number of the iteration now and then */
};

static const struct workload KNOWN[] = {
    {.name = "pytorch-add", .side = 28000, .iterations = 4000},
    {.name = "pytorch-add-small", .side = 14000, .iterations = 40000},
    {.name = "pytorch-add-idle-small", .side = 14000, .iterations = 4000, .sleep_s = 0.1},
};

static double speed(void) {
    const char *text = getenv("NVSHARE_EMULATOR_SPEED");
    double factor = text ? strtod(text, NULL) : 1;
    return factor > 0 ? factor : 1;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((double)now.tv_sec + (double)now.tv_nsec / 1e9) * speed();
}

/* A machine wakes a sleeper some 60 us late, which at speed 100 are 6 ms: so the end of an emulated
 * sleep is waited for awake. On a real GPU this is an ordinary sleep. */
static void sleep_s(double seconds) {
    double until = now_s() + seconds, awake_s = speed() == 1 ? 0 : 150e-6;
    double real = seconds / speed() - awake_s;
    if (real > 0) {
        struct timespec length = {(time_t)real, (long)((real - (double)(time_t)real) * 1e9)};
        nanosleep(&length, NULL);
    }
    while (awake_s > 0 && now_s() < until)
        sched_yield();
}

struct buffers {
    CUdeviceptr x, y, z[2];
};

static CUdeviceptr allocate(const struct driver_functions *driver, const struct workload *w) {
    CUdeviceptr address;
    size_t bytes = w->side * w->side * sizeof(float);
    if (w->managed)
        CHECK(driver, cuMemAllocManaged, &address, bytes, CU_MEM_ATTACH_GLOBAL);
    else
        CHECK(driver, cuMemAlloc, &address, bytes);
    return address;
}

/* The source is memory that nobody has written, so that it takes no room on the host. */
static void copy_in(const struct driver_functions *driver, CUdeviceptr to, size_t bytes) {
    void *source = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (source == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    CHECK(driver, cuMemcpyHtoD, to, source, bytes);
    munmap(source, bytes);
}

static struct buffers make_buffers(const struct driver_functions *driver,
                                   const struct workload *w) {
    size_t bytes = w->side * w->side * sizeof(float);
    struct buffers buffers;
    buffers.x = allocate(driver, w);
    copy_in(driver, buffers.x, bytes);
    buffers.y = allocate(driver, w);
    copy_in(driver, buffers.y, bytes);
    buffers.z[0] = allocate(driver, w);
    buffers.z[1] = allocate(driver, w);
    return buffers;
}

static CUfunction load_kernel(const struct driver_functions *driver, const struct workload *w) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CHECK(driver, cuInit, 0);
    CHECK(driver, cuDeviceGet, &device, w->device);
    CHECK(driver, cuDevicePrimaryCtxRetain, &context, device);
    CHECK(driver, cuCtxSetCurrent, context);
    CHECK(driver, cuModuleLoadData, &module, KERNEL);
    CHECK(driver, cuModuleGetFunction, &function, module, "vector_add");
    return function;
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
            sleep_s(w->sleep_s);
        }
        note_progress(w, i);
    }
    CHECK(driver, cuCtxSynchronize);
}

static void run(const struct workload *w) {
    double began = now_s();
    sleep_s(w->startup_s);
    struct driver_functions driver = driver_load();
    CUfunction function = load_kernel(&driver, w);
    struct buffers buffers = make_buffers(&driver, w);
    double loop_began = now_s();
    iterate(&driver, w, function, &buffers);
    double ended = now_s();
    printf("{\"workload\": \"%s\", \"iterations\": %llu, \"seconds\": %.3f, "
           "\"loop_seconds\": %.3f, \"iterations_per_s\": %.3f}\n",
           w->name, (unsigned long long)w->iterations, ended - began, ended - loop_began,
           (double)w->iterations / (ended - loop_began));
}

static void usage(void) {
    fprintf(stderr, "usage: driver-add NAME [--iterations N] [--side N] [--sleep S] [--startup S]\n"
                    "                  [--device N] [--managed] [--progress FILE]\n"
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
        {"iterations", required_argument, NULL, 'i'}, {"side", required_argument, NULL, 'n'},
        {"sleep", required_argument, NULL, 's'},      {"startup", required_argument, NULL, 'u'},
        {"device", required_argument, NULL, 'd'},     {"managed", no_argument, NULL, 'm'},
        {"progress", required_argument, NULL, 'p'},   {NULL, 0, NULL, 0},
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
        case 'm': w.managed = true; break;
        case 'p': w.progress = optarg; break;
        default: usage();
        }
    }
    run(&w);
    return 0;
}
