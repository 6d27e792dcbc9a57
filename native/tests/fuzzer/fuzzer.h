/* Declarations that the parts of the fuzzer share. */
#ifndef NVSHARE_TESTS_FUZZER_H
#define NVSHARE_TESTS_FUZZER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../guest.h"

enum { ITEMS = 8, STREAMS = 3, MIB = 1 << 20, GRAIN = 2 * MIB, LARGEST = 40 * MIB };

enum kind { NONE, PLAIN, SMALL, MANAGED, HANDLE, POOL, OWN_POOL, KINDS };

struct item {
    enum kind kind;
    CUdeviceptr at, alias; /* no alias: 0 */
    uint64_t words, bytes, seed;
    CUmemGenericAllocationHandle handle;
    CUmemGenericAllocationHandle imported; /* the alias is of this one; 0: of its own handle */
    bool is_released, is_exportable;       /* its own; its mappings keep the memory */
    CUevent used;                          /* by the last work on it */
    CUgraphExec graph;
    uint64_t graph_seed;
};

struct fuzzer {
    uint64_t random, steps;
    double until;
    CUcontext context;
    CUfunction pattern, count, spin;
    CUdeviceptr wrong; /* one word, to which the kernel adds what it finds */
    CUmemoryPool pool;
    CUstream streams[STREAMS];
    struct item items[ITEMS];
    void *host; /* as large as the largest item, and not known to the driver */
    pthread_t thread;
};

/* work.c: work on an item. Each piece of work waits for the earlier ones. */
uint64_t next_random(struct fuzzer *f);
bool chance(struct fuzzer *f, unsigned one_in);
CUstream any_stream(struct fuzzer *f);
CUstream begin(struct fuzzer *f, const struct item *item);
void end(const struct item *item, CUstream stream);
void launch_pattern(struct fuzzer *f, CUdeviceptr at, uint64_t words, uint64_t seed,
                    CUstream stream);
void launch_count(struct fuzzer *f, CUdeviceptr at, uint64_t words, uint64_t seed, CUstream stream);
void write_item(struct fuzzer *f, struct item *item);
void check_item(struct fuzzer *f, struct item *item);
void see(struct fuzzer *f);
void copy_item(struct fuzzer *f, struct item *from);
void copy_through_host(struct fuzzer *f, struct item *from);
void ask_about(const struct item *item);

/* Keeps a stream busy for up to this long. */
void keep_busy(struct fuzzer *f, CUstream stream, uint64_t microseconds);

/* items.c: how items come and go, and other work with handles. */
void make_item(struct fuzzer *f, struct item *item);
void free_item(struct fuzzer *f, struct item *item);
void use_handle(struct fuzzer *f, struct item *item);

/* graphs.c: captured work, done when its graph is launched. */
void drop_graph(struct item *item);
void use_graph(struct fuzzer *f, struct item *item);

/* pools.c: memory that comes and goes in the order of streams. */
void play_with_pools(struct fuzzer *f);

#endif
