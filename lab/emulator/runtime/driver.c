#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "runtime.h"

_Thread_local bool runtime_per_thread;

static struct driver flavours[2]; /* by runtime_per_thread */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudaError_t outcome;

struct row {
    const char *name;
    int version;
    size_t place; /* in struct driver */
};

static const struct row rows[] = {
#define DRIVER_CALL(name, version) {#name, version, offsetof(struct driver, name)},
#include "driver.def"
#undef DRIVER_CALL
};

/* The second flavour came with CUDA 7, and is not found under the versions before. */
enum { FIRST_PER_THREAD = 7000 };

static bool fill(struct driver *table, PFN_cuGetProcAddress_v12000 find, bool per_thread) {
    cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                  : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int version = rows[i].version;
        if (per_thread && version < FIRST_PER_THREAD)
            version = FIRST_PER_THREAD;
        void *found = NULL;
        CUdriverProcAddressQueryResult status;
        if (find(rows[i].name, &found, version, flags, &status) != CUDA_SUCCESS || !found)
            return false;
        /* ISO C has no conversion from void * to a function, POSIX demands that the bytes agree. */
        memcpy((char *)table + rows[i].place, &found, sizeof found);
    }
    return true;
}

static cudaError_t load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return cudaErrorInsufficientDriver;
    PFN_cuGetProcAddress_v12000 find = NULL;
    void *symbol = dlsym(library, "cuGetProcAddress_v2");
    memcpy(&find, &symbol, sizeof find);
    if (!find || !fill(&flavours[false], find, false) || !fill(&flavours[true], find, true))
        return cudaErrorInsufficientDriver;
    return (cudaError_t)flavours[false].cuInit(0);
}

static void load_once(void) {
    outcome = load();
}

cudaError_t driver_enter(const struct driver **out) {
    pthread_once(&once, load_once);
    *out = &flavours[runtime_per_thread];
    return outcome;
}
