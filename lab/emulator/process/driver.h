/* The emulated driver inside one process: the state that its API functions share.
 *
 * One struct, one pointer to it. `lock` guards the process's own tables (contexts, streams,
 * allocations). It is held briefly, and never while waiting for the GPU. The node's lock may be
 * taken inside it, not the other way round. */
#ifndef NVSHARE_EMULATOR_DRIVER_H
#define NVSHARE_EMULATOR_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../model/node.h"

struct allocator;
struct regions;
struct worker;

struct driver {
    struct node *node;
    uint32_t slot;
    bool model;        /* false: NVSHARE_EMULATOR_MODEL=off, everything is done at once */
    bool data;         /* false: bytes are not stored */
    bool pages;        /* page-locked host memory has real pages */
    int64_t kernel_ns; /* NVSHARE_EMULATOR_KERNEL_US: every kernel costs this; -1: not set */
    pthread_mutex_t lock;
    struct allocator *memory;
    struct worker *worker;
    uint32_t visible[MAX_GPUS]; /* GPUs of the node by the program's numbers (CUdevice) */
    uint32_t visible_count;
    struct CUctx_st *primary[MAX_GPUS]; /* by GPU, like every other index but CUdevice */
    struct CUctx_st *contexts;          /* all of them, linked */
    uint32_t last_context;              /* number of the newest */
    bool some_failed;                   /* contexts are dead, or were */
    uint64_t last_id;                   /* of streams, buffers, captures, ... */
    struct regions *reservations;       /* addresses without memory; see reservation.h */
    struct regions *handles;            /* physical memory and the like, by handle; see handle.h */
    struct CUmemPoolHandle_st *pools;   /* all of them, linked */
    struct event_file *event_files;     /* of interprocess events; see shared_event.h */
};

/* NULL until cuInit has succeeded, and in a child forked after that. */
extern struct driver *driver;

/* Attaches to the node and starts the worker, once. */
CUresult driver_init(void);

void driver_lock(void);
void driver_unlock(void);
uint64_t driver_next_id(void); /* with the lock held */

static inline struct slot *driver_slot(void) {
    return &driver->node->slots[driver->slot];
}
static inline const struct gpu_profile *gpu_profile(uint32_t gpu) {
    return &driver->node->gpus[gpu].profile;
}

/* CUDA_VISIBLE_DEVICES hides and reorders GPUs: a CUdevice is the program's number of a GPU, a
 * `gpu` is the node's number. */
static inline bool device_exists(CUdevice device) {
    return device >= 0 && (uint32_t)device < driver->visible_count;
}
static inline uint32_t gpu_of_device(CUdevice device) {
    return driver->visible[device];
}
static inline CUdevice device_of_gpu(uint32_t gpu) {
    for (uint32_t i = 0; i < driver->visible_count; i++)
        if (driver->visible[i] == gpu)
            return (CUdevice)i;
    return CU_DEVICE_INVALID;
}

/* Lets emulated time pass for the calling thread: the cost of the CPU side of a driver. */
void driver_pause(uint64_t emulated_ns);

/* First line of an API function that needs no context. */
#define REQUIRE_DRIVER()                                                                           \
    do {                                                                                           \
        if (__builtin_expect(!driver, 0))                                                          \
            return CUDA_ERROR_NOT_INITIALIZED;                                                     \
    } while (0)

#define REQUIRE_DEVICE(device)                                                                     \
    do {                                                                                           \
        REQUIRE_DRIVER();                                                                          \
        if (!device_exists(device))                                                                \
            return CUDA_ERROR_INVALID_DEVICE;                                                      \
    } while (0)

#define REQUIRE(condition, error)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (error);                                                                        \
    } while (0)

#endif
