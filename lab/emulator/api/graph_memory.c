/* Memory that belongs to graphs. */
#include "graph_memory.h"

#include <stdlib.h>

#include "../process/arena.h"
#include "../process/pool.h"
#include "../process/room.h"

struct graph_memory {
    uint64_t address;
    uint64_t allocation; /* its id: another allocation may have got the address */
    unsigned nodes;
    bool in_use;
    struct graph_memory *next;
};

static struct graph_memory *all;

static struct graph_memory **find(uint64_t address) {
    struct graph_memory **at = &all;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    return at;
}

/* NULL if it was freed with its context, or if the address now belongs to another allocation. */
static struct allocation *allocation_of(const struct graph_memory *memory) {
    struct allocation *allocation = memory_find(memory->address);
    return allocation && allocation->id == memory->allocation ? allocation : NULL;
}

static uint64_t chunk_bytes(const struct allocation *allocation) {
    return (allocation->bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
}

CUresult graph_memory_retain(uint64_t address) {
    struct graph_memory **at = find(address);
    if (*at && !allocation_of(*at)) {
        struct graph_memory *stale = *at;
        *at = stale->next;
        free(stale);
        at = find(address);
    }
    if (!*at) {
        struct allocation *allocation = memory_find(address);
        REQUIRE(allocation, CUDA_ERROR_INVALID_VALUE);
        *at = calloc(1, sizeof **at);
        REQUIRE(*at, CUDA_ERROR_OUT_OF_MEMORY);
        (*at)->address = address;
        (*at)->allocation = allocation->id;
    }
    (*at)->nodes++;
    return CUDA_SUCCESS;
}

void graph_memory_drop(uint64_t address) {
    struct graph_memory **at = find(address), *memory = *at;
    if (!memory || --memory->nodes)
        return;
    struct allocation *allocation = allocation_of(memory);
    if (allocation && !memory->in_use)
        memory_give_back(allocation);
    *at = memory->next;
    free(memory);
}

CUresult graph_memory_use(uint64_t address, bool *fresh) {
    struct graph_memory *memory = *find(address);
    if (!memory)
        return CUDA_SUCCESS;
    struct allocation *allocation = allocation_of(memory);
    if (allocation && allocation->is_unbacked) {
        CUresult result = room_take(allocation->gpu, ROOM_FOR_PLAIN, chunk_bytes(allocation));
        if (result != CUDA_SUCCESS)
            return result;
        allocation->is_unbacked = false;
    }
    *fresh &= !memory->in_use;
    memory->in_use = true;
    return CUDA_SUCCESS;
}

bool graph_memory_free(uint64_t address) {
    struct graph_memory *memory = *find(address);
    if (!memory || !allocation_of(memory))
        return false;
    memory->in_use = false;
    return true;
}

/* The bytes that graphs hold on a GPU, or only those in use. Nothing is kept beyond what they need,
 * so the highest amounts are not recorded: they are the present ones. */
static uint64_t total(uint32_t gpu, bool in_use_only) {
    uint64_t bytes = 0;
    for (const struct graph_memory *m = all; m; m = m->next) {
        const struct allocation *allocation = allocation_of(m);
        if (allocation && allocation->gpu == gpu && !allocation->is_unbacked &&
            (m->in_use || !in_use_only))
            bytes += allocation->bytes;
    }
    return bytes;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value) {
    REQUIRE_DEVICE(device);
    REQUIRE(value && (unsigned)attr <= CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
            CUDA_ERROR_INVALID_VALUE);
    bool in_use_only =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT || attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    driver_lock();
    *(cuuint64_t *)value = total(gpu_of_device(device), in_use_only);
    driver_unlock();
    return CUDA_SUCCESS;
}

/* Only the highest amounts can be set, and only to 0. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value) {
    REQUIRE_DEVICE(device);
    bool high =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    REQUIRE(high && value && !*(cuuint64_t *)value, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* Memory that no launch uses is freed, and its address stays: the next launch brings it back, or is
 * out of memory. Small allocations share their chunk with others, and stay. Documented for graphs
 * that are neither executing nor scheduled to; that it is so for graphs which can be launched again
 * is assumed. */
CUresult cuDeviceGraphMemTrim(CUdevice device) {
    REQUIRE_DEVICE(device);
    uint32_t gpu = gpu_of_device(device);
    driver_lock();
    for (const struct graph_memory *m = all; m; m = m->next) {
        struct allocation *allocation = allocation_of(m);
        if (!allocation || allocation->gpu != gpu || m->in_use || allocation->is_unbacked ||
            allocation->bytes <= CHUNK_BYTES / 2)
            continue;
        allocation->is_unbacked = true;
        room_give_plain(gpu, chunk_bytes(allocation));
    }
    driver_unlock();
    return CUDA_SUCCESS;
}
