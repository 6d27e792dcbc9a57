#include "physical.h"

#include <stdlib.h>

#include "backing.h"
#include "explicit.h"
#include "gate/inside.h"
#include "memory/allocations.h"
#include "process/clock.h"
#include "process/devices.h"
#include "session/session.h"

/* Memory of the host, of other types, and for RDMA is left to the driver. */
bool physical_can_be(const CUmemAllocationProp *properties, size_t bytes,
                     unsigned long long flags) {
    return properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && !flags && bytes &&
           bytes % REGION_PAGE == 0 && !properties->win32HandleMetaData &&
           !properties->allocFlags.compressionType &&
           !properties->allocFlags.gpuDirectRDMACapable && !properties->allocFlags.usage;
}

CUresult physical_create(struct device *device, const CUmemAllocationProp *properties,
                         struct ledger_entry *entry) {
    uint64_t chunk = properties->requestedHandleTypes ? entry->bytes : REGION_CHUNK;
    struct region *region = region_create(entry->bytes, chunk);
    struct physical *physical = malloc(sizeof *physical);
    if (!region || !physical) {
        free(region);
        free(physical);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *physical = (struct physical){region, device, *properties, 1};
    region->physical = physical;
    region->used_ns = clock_now();
    entry->key = (uint64_t)(uintptr_t)physical;
    entry->target = (uint64_t)(uintptr_t)region;
    explicit_lock(&device->explicit);
    region_link(&device->explicit.regions, region);
    region_add_live(&device->explicit.regions, region, 0, entry->bytes);
    explicit_unlock(&device->explicit);
    CUresult result = explicit_bring(device, region);
    if (result != CUDA_SUCCESS)
        physical_is_gone(entry);
    return result;
}

void physical_is_gone(const struct ledger_entry *entry) {
    struct region *region = (struct region *)(uintptr_t)entry->target;
    struct device *device = region->physical->device;
    explicit_lock(&device->explicit);
    region_remove_live(&device->explicit.regions, region, 0, entry->bytes);
    explicit_destroy(device, region);
    explicit_unlock(&device->explicit);
}

struct physical *physical_find(CUmemGenericAllocationHandle handle) {
    struct ledger_entry entry;
    if (ledger_find(&allocations.physical, handle, &entry) < 0 || !ledger_is_explicit(entry.kind))
        return NULL;
    struct physical *physical = (struct physical *)(uintptr_t)handle;
    explicit_lock(&physical->device->explicit);
    bool is_held = physical->handles > 0;
    explicit_unlock(&physical->device->explicit);
    return is_held ? physical : NULL;
}

void physical_release(struct physical *physical) {
    explicit_lock(&physical->device->explicit);
    physical->handles--;
    explicit_unlock(&physical->device->explicit);
}

/* Returns the mapping at an address, with the lock of its device held, or NULL. */
static struct mapping *lock_mapping(CUdeviceptr address, struct device **out) {
    if (!gate_calls_are_marked()) /* there is no explicit memory */
        return NULL;
    for (int i = 0; i < DEVICES_MAX; i++) {
        struct device *device = device_known(i);
        if (!device)
            continue;
        explicit_lock(&device->explicit);
        struct mapping *mapping = regions_find(&device->explicit.regions, address);
        *out = device;
        if (mapping && mapping->region->physical)
            return mapping;
        explicit_unlock(&device->explicit);
    }
    return NULL;
}

struct physical *physical_at(CUdeviceptr address) {
    struct device *device;
    struct mapping *mapping = lock_mapping(address, &device);
    struct physical *physical = mapping ? mapping->region->physical : NULL;
    if (mapping)
        explicit_unlock(&device->explicit);
    return physical;
}

struct physical *physical_retain(CUdeviceptr address) {
    struct device *device;
    struct mapping *mapping = lock_mapping(address, &device);
    if (!mapping)
        return NULL;
    struct physical *physical = mapping->region->physical;
    physical->handles++;
    explicit_unlock(&device->explicit);
    return physical;
}

bool physical_mapping(CUdeviceptr address, struct mapping *out) {
    struct device *device;
    const struct mapping *mapping = lock_mapping(address, &device);
    if (!mapping)
        return false;
    *out = *mapping;
    explicit_unlock(&device->explicit);
    return true;
}

/* With the lock held. Mappings lie at whole pages. */
static bool is_free(const struct regions *regions, uint64_t address, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += REGION_PAGE)
        if (regions_find(regions, address + at))
            return false;
    return true;
}

/* While the memory is away the driver does not refuse a wrong address, so the range is checked
 * here. */
static bool is_reserved(uint64_t address, uint64_t bytes) {
    CUdeviceptr begin;
    size_t size;
    return real.cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) ==
               CUDA_SUCCESS &&
           real.cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) ==
               CUDA_SUCCESS &&
           address - begin <= size && bytes <= size - (address - begin);
}

static CUresult map(struct physical *physical, const struct mapping *wanted) {
    struct regions *regions = &physical->device->explicit.regions;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    explicit_lock(&physical->device->explicit);
    region_wait(regions, physical->region);
    struct mapping *mapping = NULL;
    if (is_free(regions, wanted->address, wanted->bytes)) {
        mapping = mapping_add(regions, wanted);
        result = mapping ? backing_map(mapping) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (mapping && result != CUDA_SUCCESS)
        mapping_drop(regions, mapping);
    explicit_unlock(&physical->device->explicit);
    return result;
}

/* A part that begins or ends within a chunk is for the driver to judge, so the memory has to be
 * there. */
CUresult physical_map(struct physical *physical, CUdeviceptr address, size_t bytes, size_t offset) {
    struct region *region = physical->region;
    struct gate *gate = &physical->device->gate;
    struct mapping wanted = {
        .region = region, .address = address, .bytes = bytes, .offset = offset};
    if (!bytes || (address | bytes | offset) % REGION_PAGE || offset > region->bytes ||
        bytes > region->bytes - offset || !is_reserved(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    bool is_odd = offset % region->chunk_bytes || (offset + bytes) % region->chunk_bytes;
    if (!is_odd || offset + bytes == region->bytes)
        return map(physical, &wanted);
    if (inside_enter(gate) < 0)
        return CUDA_ERROR_SYSTEM_NOT_READY;
    CUresult result = map(physical, &wanted);
    inside_leave();
    return result;
}

CUresult physical_unmap(CUdeviceptr address) {
    struct device *device;
    struct mapping *mapping = lock_mapping(address, &device);
    if (!mapping)
        return CUDA_ERROR_INVALID_VALUE;
    region_wait(&device->explicit.regions, mapping->region);
    CUresult result = backing_unmap(mapping);
    if (result == CUDA_SUCCESS)
        mapping_drop(&device->explicit.regions, mapping);
    explicit_unlock(&device->explicit);
    return result;
}

static bool note_access(struct mapping *mapping, const CUmemAccessDesc *one) {
    unsigned at = 0;
    if (one->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return false;
    while (at < mapping->access_count && mapping->access[at].gpu != one->location.id)
        at++;
    if (at == MAPPING_GPUS)
        return false;
    mapping->access[at] = (struct access){one->location.id, (int)one->flags};
    mapping->access_count += at == mapping->access_count;
    return true;
}

/* With the lock held. Rights that cannot be recorded are refused: they could not be set again. */
static CUresult change_access(struct mapping *mapping, const CUmemAccessDesc *list, size_t count) {
    struct mapping before = *mapping;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = note_access(mapping, &list[i]) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS)
        result = backing_set_access(mapping);
    if (result != CUDA_SUCCESS)
        *mapping = before;
    return result;
}

CUresult physical_set_access(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *list,
                             size_t count, size_t *done) {
    struct device *device;
    struct mapping *mapping = lock_mapping(address, &device);
    if (!mapping)
        return CUDA_ERROR_INVALID_VALUE;
    region_wait(&device->explicit.regions, mapping->region);
    bool is_whole = mapping->address == address && mapping->bytes <= bytes;
    CUresult result = is_whole ? change_access(mapping, list, count) : CUDA_ERROR_INVALID_VALUE;
    *done = mapping->bytes;
    explicit_unlock(&device->explicit);
    return result;
}

CUresult physical_get_access(CUdeviceptr address, int gpu, unsigned long long *flags) {
    struct device *device;
    const struct mapping *mapping = lock_mapping(address, &device);
    if (!mapping)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (unsigned i = 0; i < mapping->access_count; i++)
        if (mapping->access[i].gpu == gpu)
            *flags = (unsigned long long)mapping->access[i].flags;
    explicit_unlock(&device->explicit);
    return CUDA_SUCCESS;
}

CUresult physical_stay(struct physical *physical, CUmemGenericAllocationHandle *handle) {
    struct device *device = physical->device;
    if (physical->region->count > 1)
        return CUDA_ERROR_NOT_SUPPORTED; /* it has several of the driver's handles */
    if (inside_enter(&device->gate) < 0)
        return CUDA_ERROR_SYSTEM_NOT_READY;
    explicit_lock(&device->explicit);
    region_wait(&device->explicit.regions, physical->region);
    bool is_new = !physical->region->stays;
    region_stay(&device->explicit.regions, physical->region);
    *handle = physical->region->chunks[0].handle;
    explicit_unlock(&device->explicit);
    if (is_new)
        ledger_fix_one(&allocations.physical, (uint64_t)(uintptr_t)physical, PINNED_EXPORTED);
    inside_leave();
    session_memory_changed(device);
    return CUDA_SUCCESS;
}
