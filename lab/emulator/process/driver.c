/* The emulated driver inside one process: beginning, and the end after a fork. */
#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_limit.h"
#include "inject.h"
#include "memory.h"
#include "visible.h"
#include "worker.h"

struct driver *driver;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static bool forked; /* a parent had initialised the driver, which is unusable here */

/* As with the real driver, a child cannot use a driver that its parent had initialised. */
static void after_fork_in_child(void) {
    forked = forked || driver;
    driver = NULL;
}

static void read_environment(struct driver *new_driver) {
    const char *model = getenv("NVSHARE_EMULATOR_MODEL");
    new_driver->model = !model || strcmp(model, "off") != 0;
    const char *kernel_us = getenv("NVSHARE_EMULATOR_KERNEL_US");
    char *end = NULL;
    double us = kernel_us ? strtod(kernel_us, &end) : -1;
    new_driver->kernel_ns = kernel_us && end != kernel_us && us >= 0 ? (int64_t)(us * 1000) : -1;
}

static CUresult explain(int error, const char *why) {
    fprintf(stderr, "nvshare emulator: %s\n", why);
    return error == -ENODEV ? CUDA_ERROR_NO_DEVICE : CUDA_ERROR_OPERATING_SYSTEM;
}

static CUresult init_once(void) {
    char why[4096];
    struct driver *new_driver = calloc(1, sizeof *new_driver);
    if (!new_driver)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_init(&new_driver->lock, NULL);
    int result = node_attach(&new_driver->node, why, sizeof why);
    if (result < 0)
        return explain(result, why);
    read_environment(new_driver);
    if (!inject_read())
        return CUDA_ERROR_INVALID_VALUE;
    new_driver->visible_count =
        visible_gpus(new_driver->node, getenv("CUDA_VISIBLE_DEVICES"), new_driver->visible);
    if (!new_driver->visible_count)
        return CUDA_ERROR_NO_DEVICE;
    new_driver->data = new_driver->node->profile.data;
    const char *pages = getenv("NVSHARE_EMULATOR_REAL_HOST");
    new_driver->pages = new_driver->data || (pages && strcmp(pages, "1") == 0);
    new_driver->memory = memory_create(new_driver);
    if (!new_driver->memory)
        return explain(-ENOMEM,
                       "cannot reserve address space for device memory: check `ulimit -v`");
    result = worker_start(new_driver);
    if (result == -ENOSPC)
        return explain(result, "the node has no room for another process");
    if (result < 0)
        return explain(result, "cannot start the driver's thread");
    host_limit_read(new_driver);
    driver = new_driver;
    worker_release(new_driver->worker);
    pthread_atfork(NULL, NULL, after_fork_in_child);
    return CUDA_SUCCESS;
}

CUresult driver_init(void) {
    if (forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&init_lock);
    CUresult result = driver ? CUDA_SUCCESS : init_once();
    pthread_mutex_unlock(&init_lock);
    return result;
}

/* A thread that was cancelled while it pauses or opens a file would never give the lock back. */
static _Thread_local int cancel_before;

void driver_lock(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&driver->lock);
    cancel_before = before;
}
void driver_unlock(void) {
    int before = cancel_before;
    pthread_mutex_unlock(&driver->lock);
    pthread_setcancelstate(before, &before);
}

uint64_t driver_next_id(void) {
    return ++driver->last_id;
}
