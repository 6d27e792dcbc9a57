#include "registry.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct binary {
    const void *image;
    CUlibrary library; /* NULL until a symbol of it is used; `loading` guards it */
};

/* A kernel or a variable. No address is both. */
struct symbol {
    const void *host; /* NULL: a free place */
    const char *name;
    struct binary *binary; /* NULL: its binary is gone */
    CUkernel kernel;       /* NULL until it is used */
};

/* A hash table with open addressing. Libraries register tens of thousands of kernels when they are
 * loaded, and every launch looks one up. */
static struct {
    pthread_rwlock_t lock;
    struct symbol *places;
    size_t size; /* a power of two, or 0 */
    size_t used;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static size_t hash(const void *address) {
    return (size_t)(((uintptr_t)address * 0x9e3779b97f4a7c15u) >> 20);
}

/* The place of an address, or the free one where it would be. */
static struct symbol *place_of(const void *host) {
    size_t at = hash(host) & (table.size - 1);
    while (table.places[at].host && table.places[at].host != host)
        at = (at + 1) & (table.size - 1);
    return &table.places[at];
}

static bool grow(void) {
    size_t size = table.size ? table.size * 2 : 1024;
    struct symbol *places = calloc(size, sizeof *places);
    if (!places)
        return false;
    struct symbol *before = table.places;
    size_t count = table.size;
    table.places = places;
    table.size = size;
    for (size_t i = 0; i < count; i++)
        if (before[i].host)
            *place_of(before[i].host) = before[i];
    free(before);
    return true;
}

struct binary *registry_add_binary(const void *image) {
    struct binary *binary = calloc(1, sizeof *binary);
    if (binary)
        binary->image = image;
    return binary;
}

void registry_add_symbol(struct binary *binary, const void *host, const char *name) {
    pthread_rwlock_wrlock(&table.lock);
    if (table.used * 2 < table.size || grow()) {
        struct symbol *place = place_of(host);
        table.used += !place->host;
        *place = (struct symbol){.host = host, .name = name, .binary = binary};
    }
    pthread_rwlock_unlock(&table.lock);
}

/* The places stay: removing one would break the search for others. They are used again when the
 * same library is loaded again, usually at the same addresses. */
void registry_remove_binary(struct binary *binary) {
    pthread_rwlock_wrlock(&table.lock);
    for (size_t i = 0; i < table.size; i++)
        if (table.places[i].binary == binary)
            table.places[i] = (struct symbol){.host = table.places[i].host};
    pthread_rwlock_unlock(&table.lock);
    const struct driver *driver;
    if (binary->library && driver_enter(&driver) == cudaSuccess)
        driver->cuLibraryUnload(binary->library);
    free(binary);
}

static struct symbol find(const void *host) {
    struct symbol found = {0};
    pthread_rwlock_rdlock(&table.lock);
    if (table.size)
        found = *place_of(host);
    pthread_rwlock_unlock(&table.lock);
    return found;
}

/* A capturing thread may load code too: that submits no work. */
static CUresult load(const struct driver *driver, struct binary *binary) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    driver->cuThreadExchangeStreamCaptureMode(&mode);
    CUresult result =
        driver->cuLibraryLoadData(&binary->library, binary->image, NULL, NULL, 0, NULL, NULL, 0);
    driver->cuThreadExchangeStreamCaptureMode(&mode);
    return result;
}

static CUresult library_of(const struct driver *driver, struct binary *binary, CUlibrary *out) {
    pthread_mutex_lock(&loading);
    CUresult result = binary->library ? CUDA_SUCCESS : load(driver, binary);
    *out = binary->library;
    pthread_mutex_unlock(&loading);
    return result;
}

static void remember(const void *host, const struct binary *binary, CUkernel kernel) {
    pthread_rwlock_wrlock(&table.lock);
    struct symbol *place = place_of(host);
    if (place->binary == binary)
        place->kernel = kernel;
    pthread_rwlock_unlock(&table.lock);
}

CUresult registry_kernel(const struct driver *driver, const void *host, CUkernel *out) {
    struct symbol symbol = find(host);
    if (__builtin_expect(!symbol.binary, 0))
        return CUDA_ERROR_NOT_FOUND;
    CUresult result = CUDA_SUCCESS;
    if (__builtin_expect(!symbol.kernel, 0)) {
        CUlibrary library;
        result = library_of(driver, symbol.binary, &library);
        if (result == CUDA_SUCCESS)
            result = driver->cuLibraryGetKernel(&symbol.kernel, library, symbol.name);
        if (result == CUDA_SUCCESS)
            remember(host, symbol.binary, symbol.kernel);
    }
    *out = symbol.kernel;
    return result;
}

CUresult registry_variable(const struct driver *driver, const void *host, CUlibrary *library,
                           const char **name) {
    struct symbol symbol = find(host);
    if (!symbol.binary)
        return CUDA_ERROR_NOT_FOUND;
    *name = symbol.name;
    return library_of(driver, symbol.binary, library);
}
