#include "pools.h"

#include <pthread.h>
#include <stdlib.h>

struct noted {
    CUmemoryPool pool;
    CUdevice device;
};

_Atomic bool pools_are_used;

/* While it is held no pool that is noted is destroyed, so that all of them can be asked. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct noted *table;
static size_t count, capacity;

/* With the lock held, as below. */
static struct noted *find(CUmemoryPool pool) {
    for (size_t i = 0; i < count; i++)
        if (table[i].pool == pool)
            return &table[i];
    return NULL;
}

/* If there is no memory for it, what the pool keeps counts as free, and that is all. */
static void enter(CUdevice device, CUmemoryPool pool) {
    if (count == capacity) {
        size_t more = capacity ? 2 * capacity : 4;
        struct noted *larger = realloc(table, more * sizeof *larger);
        if (!larger)
            return;
        table = larger;
        capacity = more;
    }
    table[count++] = (struct noted){pool, device};
    atomic_store_explicit(&pools_are_used, true, memory_order_release);
}

void pools_put_back(CUdevice device, CUmemoryPool pool) {
    pthread_mutex_lock(&lock);
    if (device >= 0 && !find(pool))
        enter(device, pool);
    pthread_mutex_unlock(&lock);
}

/* The memory itself tells: which pool is a device's current one may have changed meanwhile. */
void pools_note(CUdevice device, CUdeviceptr pointer) {
    CUmemoryPool pool = NULL;
    if (real.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer) ==
            CUDA_SUCCESS &&
        pool)
        pools_put_back(device, pool);
}

CUdevice pools_take(CUmemoryPool pool) {
    pthread_mutex_lock(&lock);
    struct noted *noted = find(pool);
    CUdevice device = noted ? noted->device : -1;
    if (noted)
        *noted = table[--count];
    atomic_store_explicit(&pools_are_used, count > 0, memory_order_release);
    pthread_mutex_unlock(&lock);
    return device;
}

static uint64_t kept_by(CUmemoryPool pool) {
    cuuint64_t reserved = 0, used = 0;
    if (real.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) !=
            CUDA_SUCCESS ||
        real.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) != CUDA_SUCCESS)
        return 0;
    return reserved > used ? reserved - used : 0;
}

uint64_t pools_keep(CUdevice device) {
    uint64_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (table[i].device == device)
            bytes += kept_by(table[i].pool);
    pthread_mutex_unlock(&lock);
    return bytes;
}

void pools_forget(void) {
    pthread_mutex_init(&lock, NULL);
    table = NULL;
    count = capacity = 0;
    atomic_store(&pools_are_used, false);
}
