/* Does at random what programs do with memory, for as long as it is told: allocates in every way there is, frees, maps
 * aliases, exports, captures graphs and replays them, copies, all in several streams with events between them. What
 * was written last is checked by kernels, again and again.
 *
 *     fuzzer THREADS SECONDS SEED KERNELS.PTX
 *
 * Out of memory is a normal answer. Any other error, or a wrong byte, ends it with exit code 1 and a line that says
 * what. In the end everything is freed. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzzer.h"

static const char *const names[KINDS] = {
    "none",        "cuMemAlloc",      "a small cuMemAlloc",     "cuMemAllocManaged",
    "cuMemCreate", "cuMemAllocAsync", "cuMemAllocFromPoolAsync"};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Work on an item: after all that came before on it, and before all that comes. */
static CUstream begin(struct fuzzer *f, const struct item *item) {
    CUstream stream = any_stream(f);
    DO(cuStreamWaitEvent(stream, item->used, 0));
    return stream;
}

static void end(const struct item *item, CUstream stream) {
    DO(cuEventRecord(item->used, stream));
}

static void write_item(struct fuzzer *f, struct item *item) {
    CUstream stream = begin(f, item);
    item->seed = next_random(f);
    launch_pattern(f, item->at, item->words, item->seed, stream);
    end(item, stream);
}

static void check_item(struct fuzzer *f, struct item *item) {
    CUstream stream = begin(f, item);
    bool by_alias = item->alias && chance(f, 2);
    launch_count(f, by_alias ? item->alias : item->at, item->words, item->seed, stream);
    end(item, stream);
}

/* Everything that was checked so far was right. */
static void see(struct fuzzer *f) {
    uint64_t wrong = 0;
    for (int i = 0; i < STREAMS; i++)
        DO(cuStreamSynchronize(f->streams[i]));
    DO(cuMemcpyDtoH(&wrong, f->wrong, sizeof wrong));
    if (!wrong)
        return;
    fprintf(stderr, "fuzzer: %" PRIu64 " words are wrong, by step %" PRIu64 "\n", wrong, f->steps);
    _exit(1);
}

static CUmemAllocationProp properties(bool is_exportable) {
    CUmemAllocationProp wanted = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    if (is_exportable)
        wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return wanted;
}

static CUdeviceptr map(const struct item *item) {
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at;
    DO(cuMemAddressReserve(&at, item->bytes, 0, 0, 0));
    DO(cuMemMap(at, item->bytes, 0, item->handle, 0));
    CUresult result = cuMemSetAccess(at, item->bytes, &access, 1);
    if (result == CUDA_SUCCESS)
        return at;
    fail("cuMemSetAccess", result);
    return 0;
}

static void unmap(const struct item *item, CUdeviceptr at) {
    DO(cuMemUnmap(at, item->bytes));
    DO(cuMemAddressFree(at, item->bytes));
}

static CUresult make_handle(struct fuzzer *f, struct item *item) {
    CUmemAllocationProp wanted = properties(chance(f, 3));
    item->bytes = (item->words * 8 + GRAIN - 1) / GRAIN * GRAIN;
    CUresult result = cuMemCreate(&item->handle, item->bytes, &wanted, 0);
    if (result != CUDA_SUCCESS)
        return result;
    item->at = map(item);
    item->is_released = chance(f, 3);
    if (item->is_released)
        DO(cuMemRelease(item->handle));
    return CUDA_SUCCESS;
}

static CUresult allocate(struct fuzzer *f, struct item *item, CUstream stream) {
    size_t bytes = item->words * 8;
    switch (item->kind) {
    case SMALL:
    case PLAIN: return cuMemAlloc(&item->at, bytes);
    case MANAGED: return cuMemAllocManaged(&item->at, bytes, CU_MEM_ATTACH_GLOBAL);
    case HANDLE: return make_handle(f, item);
    case POOL: return cuMemAllocAsync(&item->at, bytes, stream);
    default: return cuMemAllocFromPoolAsync(&item->at, bytes, f->pool, stream);
    }
}

static uint64_t size_for(struct fuzzer *f, enum kind kind) {
    if (kind == SMALL)
        return 1 + next_random(f) % 2048;
    uint64_t most = chance(f, 8) ? 40 * MIB : chance(f, 4) ? 4 * MIB : MIB / 4;
    return 1 + next_random(f) % (most / 8);
}

static void make_item(struct fuzzer *f, struct item *item) {
    CUstream stream = any_stream(f);
    struct item made = {.kind = (enum kind)(1 + next_random(f) % (KINDS - 1)), .used = item->used};
    made.words = size_for(f, made.kind);
    CUresult result = allocate(f, &made, stream);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return;
    if (result != CUDA_SUCCESS)
        fail(names[made.kind], result);
    *item = made;
    end(item, stream);
    write_item(f, item);
}

static void drop_graph(struct item *item) {
    if (item->graph)
        DO(cuGraphExecDestroy(item->graph));
    item->graph = NULL;
}

static void free_handle(struct item *item) {
    DO(cuEventSynchronize(item->used));
    if (item->alias)
        unmap(item, item->alias);
    unmap(item, item->at);
    if (!item->is_released)
        DO(cuMemRelease(item->handle));
}

static void free_item(struct fuzzer *f, struct item *item) {
    if (item->graph)
        DO(cuEventSynchronize(item->used));
    drop_graph(item);
    check_item(f, item);
    CUstream stream = begin(f, item);
    if (item->kind == HANDLE)
        free_handle(item);
    else if (item->kind == MANAGED || chance(f, 4))
        DO(cuMemFree(item->at));
    else
        DO(cuMemFreeAsync(item->at, stream));
    item->kind = NONE;
}

static void copy_item(struct fuzzer *f, struct item *from) {
    struct item *to = &f->items[next_random(f) % ITEMS];
    if (to == from || to->kind == NONE || to->words > from->words)
        return;
    CUstream stream = begin(f, from);
    DO(cuStreamWaitEvent(stream, to->used, 0));
    DO(cuMemcpyDtoDAsync(to->at, from->at, to->words * 8, stream));
    to->seed = from->seed;
    end(from, stream);
    end(to, stream);
}

static void capture(struct fuzzer *f, struct item *item) {
    CUstream stream = any_stream(f);
    CUgraph graph;
    drop_graph(item);
    item->graph_seed = next_random(f);
    DO(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch_pattern(f, item->at, item->words, item->graph_seed, stream);
    launch_count(f, item->at, item->words, item->graph_seed, stream);
    if (chance(f, 4))
        usleep((useconds_t)(next_random(f) % 20000)); /* a turn may end meanwhile */
    DO(cuStreamEndCapture(stream, &graph));
    DO(cuGraphInstantiateWithFlags(&item->graph, graph, 0));
    DO(cuGraphDestroy(graph));
}

/* With a graph, it is used more often than made. */
static void use_graph(struct fuzzer *f, struct item *item) {
    if (!item->graph || chance(f, 4)) {
        DO(cuEventSynchronize(item->used));
        capture(f, item);
        return;
    }
    CUstream stream = begin(f, item);
    DO(cuGraphLaunch(item->graph, stream));
    item->seed = item->graph_seed;
    end(item, stream);
}

static void export_handle(const struct item *item) {
    int descriptor = -1;
    CUresult result = cuMemExportToShareableHandle(&descriptor, item->handle,
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result == CUDA_SUCCESS)
        close(descriptor);
    else if (result != CUDA_ERROR_INVALID_VALUE && result != CUDA_ERROR_NOT_SUPPORTED)
        fail("cuMemExportToShareableHandle", result);
}

static void use_handle(struct fuzzer *f, struct item *item) {
    CUmemGenericAllocationHandle same;
    if (item->alias) {
        DO(cuEventSynchronize(item->used));
        unmap(item, item->alias);
        item->alias = 0;
    } else if (!item->is_released && !chance(f, 3)) {
        item->alias = map(item);
    } else if (!item->is_released && chance(f, 4)) {
        export_handle(item);
    } else {
        DO(cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)item->at));
        DO(cuMemRelease(same));
    }
}

static void ask_about(const struct item *item) {
    CUdeviceptr base;
    size_t bytes;
    DO(cuMemGetAddressRange(&base, &bytes, item->at));
    if (base != item->at || bytes < item->words * 8)
        fail("cuMemGetAddressRange", CUDA_SUCCESS);
}

static void step(struct fuzzer *f) {
    struct item *item = &f->items[next_random(f) % ITEMS];
    if (item->kind == NONE) {
        make_item(f, item);
        return;
    }
    switch (next_random(f) % 20) {
    case 0:
    case 1: free_item(f, item); break;
    case 2:
    case 3:
    case 4: write_item(f, item); break;
    case 5:
    case 6: copy_item(f, item); break;
    case 7:
    case 8: use_graph(f, item); break;
    case 9:
        if (item->kind == HANDLE)
            use_handle(f, item);
        break;
    case 10: keep_busy(f, any_stream(f), 100000); break;
    case 11: see(f); break;
    case 12: ask_about(item); break;
    case 14:
    case 15:
    case 16: play_with_pools(f); break;
    case 13: usleep((useconds_t)(next_random(f) % 3000)); break;
    default: check_item(f, item);
    }
}

static void open_fuzzer(struct fuzzer *f) {
    CUmemPoolProps pool = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                           .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    DO(cuCtxSetCurrent(f->context));
    DO(cuMemPoolCreate(&f->pool, &pool));
    while (cuMemAlloc(&f->wrong, sizeof(uint64_t)) != CUDA_SUCCESS)
        usleep(1000);
    DO(cuMemcpyHtoD(f->wrong, &(uint64_t){0}, sizeof(uint64_t)));
    for (int i = 0; i < STREAMS; i++)
        DO(cuStreamCreate(&f->streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < ITEMS; i++)
        DO(cuEventCreate(&f->items[i].used, CU_EVENT_DISABLE_TIMING));
}

static void close_fuzzer(struct fuzzer *f) {
    for (int i = 0; i < ITEMS; i++) {
        if (f->items[i].kind != NONE)
            free_item(f, &f->items[i]);
        DO(cuEventDestroy(f->items[i].used));
    }
    see(f);
    for (int i = 0; i < STREAMS; i++)
        DO(cuStreamDestroy(f->streams[i]));
    DO(cuMemFree(f->wrong));
    DO(cuMemPoolDestroy(f->pool));
}

static void *run(void *argument) {
    struct fuzzer *f = argument;
    open_fuzzer(f);
    for (; now() < f->until; f->steps++)
        step(f);
    close_fuzzer(f);
    return NULL;
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!file || !text) {
        perror(path);
        exit(1);
    }
    text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void prepare(struct fuzzer *f, CUcontext context, CUmodule module, char **argv, long i) {
    f->random = (strtoull(argv[3], NULL, 10) * 64 + (uint64_t)i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    f->until = now() + atof(argv[2]);
    f->context = context;
    DO(cuModuleGetFunction(&f->pattern, module, "nvshare_pattern_u64"));
    DO(cuModuleGetFunction(&f->count, module, "nvshare_count_mismatches_u64"));
    DO(cuModuleGetFunction(&f->spin, module, "nvshare_spin"));
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: fuzzer THREADS SECONDS SEED KERNELS.PTX\n");
        return 2;
    }
    long threads = atol(argv[1]);
    struct fuzzer *fuzzers = calloc((size_t)threads, sizeof *fuzzers);
    CUcontext context;
    CUmodule module;
    char *ptx = read_file(argv[4]);
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, 0));
    DO(cuCtxSetCurrent(context));
    DO(cuModuleLoadData(&module, ptx));
    free(ptx);
    for (long i = 0; i < threads; i++) {
        prepare(&fuzzers[i], context, module, argv, i);
        pthread_create(&fuzzers[i].thread, NULL, run, &fuzzers[i]);
    }
    uint64_t steps = 0;
    for (long i = 0; i < threads; i++) {
        pthread_join(fuzzers[i].thread, NULL);
        steps += fuzzers[i].steps;
    }
    free(fuzzers);
    printf("%" PRIu64 " steps\n", steps);
    return 0;
}
