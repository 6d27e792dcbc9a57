/* The memory of this process: every address that the driver knows, its kind, and its bytes. */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../native/common/old_calls.h"
#include "../model/residency.h"
#include "arena.h"
#include "context.h"
#include "overfull.h"
#include "regions.h"
#include "reservation.h"
#include "resources.h"
#include "room.h"

#define MANAGED_BYTES       ((uint64_t)MAX_BLOCKS * BLOCK_BYTES)
#define LEAST_MANAGED_BYTES ((uint64_t)1 << 30)

/* The plain memory of one GPU as this process sees it. */
struct plain_memory {
    struct arena *arena;
    uint64_t base;
    char *data;
    int file;
};

struct allocator {
    struct plain_memory plain[MAX_GPUS];
    struct arena *managed;
    uint64_t managed_base;
    uint32_t *range_of_chunk; /* of managed memory */
    struct regions *regions;  /* everything else, by address */
};

static void *reserve(uint64_t bytes, int protection) {
    void *memory = mmap(NULL, bytes + BLOCK_BYTES, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    uintptr_t aligned = ((uintptr_t)memory + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    madvise(memory, bytes, MADV_DONTDUMP);
    return (void *)aligned;
}

/* Twice the GPU's memory in addresses, so that holes never make an allocation fail that fits. */
static bool plain_create(struct plain_memory *plain, const struct gpu_profile *profile) {
    uint64_t bytes = (profile->usable_bytes / BLOCK_BYTES + 1) * BLOCK_BYTES * 2;
    void *addresses = reserve(bytes, PROT_NONE);
    if (!addresses)
        return false;
    plain->base = (uint64_t)(uintptr_t)addresses;
    plain->file = old_memfd_create("nvshare-emulator-device-memory", MFD_CLOEXEC);
    if (plain->file < 0 || ftruncate(plain->file, (off_t)bytes) < 0)
        return false;
    void *data =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, plain->file, 0);
    if (data == MAP_FAILED)
        return false;
    madvise(data, bytes, MADV_DONTDUMP);
    plain->data = data;
    plain->arena = arena_create(plain->base, bytes);
    return plain->arena != NULL;
}

struct allocator *memory_create(struct driver *new_driver) {
    struct allocator *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    for (uint32_t g = 0; g < new_driver->node->profile.gpu_count; g++)
        if (!plain_create(&memory->plain[g], &new_driver->node->gpus[g].profile))
            return NULL;
    /* If addresses are scarce (under valgrind), tries half as many, and half of that. */
    uint64_t managed_bytes = MANAGED_BYTES;
    void *managed = reserve(managed_bytes, PROT_READ | PROT_WRITE);
    while (!managed && managed_bytes > LEAST_MANAGED_BYTES)
        managed = reserve(managed_bytes /= 2, PROT_READ | PROT_WRITE);
    if (!managed)
        return NULL;
    memory->managed_base = (uint64_t)(uintptr_t)managed;
    memory->managed = arena_create(memory->managed_base, managed_bytes);
    memory->range_of_chunk = reserve(MAX_BLOCKS * sizeof(uint32_t), PROT_READ | PROT_WRITE);
    memory->regions = regions_create();
    return memory->managed && memory->range_of_chunk && memory->regions ? memory : NULL;
}

static struct allocation *new_allocation(struct CUctx_st *context, enum memory_kind kind,
                                         uint64_t bytes) {
    struct allocation *allocation = calloc(1, sizeof *allocation);
    if (!allocation)
        return NULL;
    allocation->kind = kind;
    allocation->bytes = bytes;
    allocation->id = driver_next_id();
    allocation->context = context;
    if (context)
        context_adopt(context, allocation);
    return allocation;
}

static void drop_allocation(struct allocation *allocation) {
    if (allocation->context)
        context_disown(allocation->context, allocation);
    if (allocation->finish)
        allocation->finish(allocation);
    free(allocation);
}

/* Addresses for plain memory. The caller must book `chunks` of the GPU for it. */
static CUresult place_plain(struct CUctx_st *context, uint32_t gpu, uint64_t bytes,
                            struct allocation **out, uint32_t *chunks) {
    struct plain_memory *plain = &driver->memory->plain[gpu];
    struct allocation *allocation = new_allocation(context, MEMORY_PLAIN, bytes);
    *out = NULL;
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint32_t first = 0;
    *chunks = 0;
    allocation->gpu = gpu;
    allocation->address = arena_allocate(plain->arena, bytes, allocation, &first, chunks);
    if (!allocation->address) {
        drop_allocation(allocation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (driver->data)
        allocation->data = plain->data + (allocation->address - plain->base);
    *out = allocation;
    return CUDA_SUCCESS;
}

CUresult memory_allocate_plain(struct CUctx_st *context, uint32_t gpu, uint64_t bytes,
                               struct allocation **out) {
    uint32_t first, chunks;
    CUresult result = place_plain(context, gpu, bytes, out, &chunks);
    if (result == CUDA_SUCCESS && chunks)
        result = room_take(gpu, ROOM_FOR_PLAIN, chunks * CHUNK_BYTES);
    if (result != CUDA_SUCCESS && *out) {
        arena_release(driver->memory->plain[gpu].arena, (*out)->address, &first, &chunks);
        drop_allocation(*out);
    }
    overfull_look(bytes);
    return result;
}

static void punch_hole(const struct plain_memory *plain, uint64_t offset, uint64_t bytes) {
    fallocate(plain->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
}

CUresult memory_allocate_physical(uint32_t gpu, uint64_t bytes, struct allocation **out) {
    uint32_t chunks;
    CUresult result = place_plain(NULL, gpu, bytes, out, &chunks);
    if (result == CUDA_SUCCESS) /* small allocations may have left data in a chunk */
        punch_hole(&driver->memory->plain[gpu], memory_offset(*out), bytes);
    return result;
}

/* Chunks of managed memory and blocks of the node are the same size, and both are counted from the
 * beginning of the managed addresses. Small allocations share the range of their chunk. */
static int take_range(uint32_t first, uint32_t chunks) {
    uint32_t *ranges = driver->memory->range_of_chunk;
    if (!chunks)
        return (int)ranges[first];
    node_lock(driver->node);
    int range = range_create(driver->node, driver->slot, first, chunks);
    node_unlock(driver->node);
    if (range >= 0)
        ranges[first] = (uint32_t)range;
    return range;
}

CUresult memory_allocate_managed(struct CUctx_st *context, uint64_t bytes,
                                 struct allocation **out) {
    struct allocation *allocation = new_allocation(context, MEMORY_MANAGED, bytes);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint32_t first = 0, chunks = 0;
    struct arena *arena = driver->memory->managed;
    allocation->address = arena_allocate(arena, bytes, allocation, &first, &chunks);
    int range = -ENOMEM;
    if (allocation->address)
        range = take_range(first, chunks);
    if (range < 0) {
        if (allocation->address)
            arena_release(arena, allocation->address, &first, &chunks);
        drop_allocation(allocation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    allocation->range = (uint32_t)range;
    if (driver->data)
        allocation->data = (void *)(uintptr_t)allocation->address;
    *out = allocation;
    overfull_look(bytes);
    return CUDA_SUCCESS;
}

static void release_plain(struct allocation *allocation) {
    struct plain_memory *plain = &driver->memory->plain[allocation->gpu];
    uint32_t first, chunks;
    arena_release(plain->arena, allocation->address, &first, &chunks);
    if (!chunks)
        return;
    if (!allocation->is_unbacked)
        room_give_plain(allocation->gpu, chunks * CHUNK_BYTES);
    if (allocation->bytes > CHUNK_BYTES / 2) /* small ones are bounded by their peak */
        punch_hole(plain, first * CHUNK_BYTES, chunks * CHUNK_BYTES);
}

static void release_managed(struct allocation *allocation) {
    uint32_t first, chunks;
    arena_release(driver->memory->managed, allocation->address, &first, &chunks);
    if (!chunks)
        return;
    node_lock(driver->node);
    range_destroy(driver->node, driver->slot, allocation->range);
    node_unlock(driver->node);
    madvise((char *)(uintptr_t)driver->memory->managed_base + first * CHUNK_BYTES,
            chunks * CHUNK_BYTES, MADV_DONTNEED);
}

void memory_release(struct allocation *allocation) {
    if (allocation->kind == MEMORY_PLAIN)
        release_plain(allocation);
    else if (allocation->kind == MEMORY_MANAGED)
        release_managed(allocation);
    drop_allocation(allocation);
}

/* The resource that counts this allocation, or RESOURCES. */
static enum resource resource_of(const struct allocation *allocation) {
    switch (allocation->kind) {
    case MEMORY_HOST: return RESOURCE_HOST;
    case MEMORY_REGISTERED: return RESOURCE_REGISTRATIONS;
    case MEMORY_MAPPED: return allocation->guarded ? RESOURCE_MAPPINGS : RESOURCES;
    default: return RESOURCES;
    }
}

CUresult memory_register(struct allocation wanted, struct allocation **out) {
    struct allocation *allocation = new_allocation(wanted.context, wanted.kind, wanted.bytes);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    wanted.id = allocation->id;
    wanted.next = allocation->next;
    wanted.previous = allocation->previous;
    *allocation = wanted;
    if (!regions_insert(driver->memory->regions, wanted.address, wanted.bytes, allocation)) {
        drop_allocation(allocation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    enum resource resource = resource_of(allocation);
    if (resource != RESOURCES)
        resources_add(resource);
    *out = allocation;
    return CUDA_SUCCESS;
}

void memory_unregister(struct allocation *allocation) {
    enum resource resource = resource_of(allocation);
    if (resource != RESOURCES)
        resources_remove(resource);
    regions_remove(driver->memory->regions, allocation->address);
    drop_allocation(allocation);
}

struct allocation *memory_find(uint64_t address) {
    struct allocator *memory = driver->memory;
    struct allocation *found = NULL;
    for (uint32_t g = 0; g < driver->node->profile.gpu_count && !found; g++)
        found = arena_find(memory->plain[g].arena, address);
    if (!found)
        found = arena_find(memory->managed, address);
    if (!found)
        found = regions_find(memory->regions, address);
    return found && address - found->address < found->bytes ? found : NULL;
}

void *memory_bytes(uint64_t address, bool *known) {
    const struct allocation *allocation = memory_find(address);
    *known = allocation != NULL;
    if (!allocation || !allocation->data)
        return NULL;
    return (char *)allocation->data + (address - allocation->address);
}

void *memory_resolve(uint64_t address) {
    bool known;
    void *bytes = memory_bytes(address, &known);
    if (known || memory_is_device_address(address))
        return bytes;
    return (void *)(uintptr_t)address;
}

bool memory_covers(uint64_t address, uint64_t bytes) {
    while (bytes) {
        const struct allocation *allocation = memory_find(address);
        if (!allocation)
            return false;
        uint64_t piece = allocation->bytes - (address - allocation->address);
        if (piece >= bytes)
            return true;
        if (allocation->kind != MEMORY_MAPPED)
            return false;
        address += piece;
        bytes -= piece;
    }
    return true;
}

bool memory_is_device_address(uint64_t address) {
    for (uint32_t g = 0; g < driver->node->profile.gpu_count; g++)
        if (arena_contains(driver->memory->plain[g].arena, address))
            return true;
    return arena_contains(driver->memory->managed, address) || reservation_find(address);
}

uint32_t memory_block(uint64_t address) {
    return (uint32_t)((address - driver->memory->managed_base) / BLOCK_BYTES);
}

int memory_file(uint32_t gpu) {
    return driver->memory->plain[gpu].file;
}

uint64_t memory_offset(const struct allocation *allocation) {
    return allocation->address - driver->memory->plain[allocation->gpu].base;
}

/* Small allocations may share a block: it is touched once, with the bytes of all of them. */
static struct reference *touched_before(struct touch *touch, const struct reference *reference) {
    for (uint32_t i = 0; i < touch->references; i++)
        if (touch->reference[i].range == reference->range &&
            touch->reference[i].first_block == reference->first_block &&
            touch->reference[i].blocks == reference->blocks)
            return &touch->reference[i];
    return NULL;
}

void memory_touch(struct touch *touch, uint64_t address, uint64_t bytes) {
    const struct allocation *allocation = memory_find(address);
    if (!allocation)
        return;
    if (allocation->kind != MEMORY_MANAGED) {
        touch->plain_bytes += bytes;
        return;
    }
    uint64_t from = address - driver->memory->managed_base;
    struct reference reference = {.range = allocation->range, .bytes = bytes};
    reference.first_block = (uint32_t)(from / BLOCK_BYTES);
    reference.blocks =
        (uint32_t)((from + (bytes ? bytes : 1) - 1) / BLOCK_BYTES) - reference.first_block + 1;
    struct reference *before = touched_before(touch, &reference);
    if (before)
        before->bytes += bytes;
    /* An operation on more parts than fit here touches the rest at no cost: better than failing. */
    else if (touch->references < sizeof touch->reference / sizeof touch->reference[0])
        touch->reference[touch->references++] = reference;
}

void memory_touch_allocation(struct touch *touch, const struct allocation *allocation) {
    memory_touch(touch, allocation->address, allocation->bytes);
}
