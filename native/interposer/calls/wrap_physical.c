/* Physical memory (cuMemCreate): it lives while there is a handle to it, or a mapping. It cannot be
 * managed memory. Where memory is explicit it moves too, and then handles are ours
 * (explicit/physical.h); elsewhere it is the driver's, and counted as pinned. */
#include "explicit/answers.h"
#include "explicit/physical.h"
#include "memory/allocations.h"
#include "process/devices.h"

static CUresult create(struct device *device, const CUmemAllocationProp *prop,
                       unsigned long long flags, struct ledger_entry *entry) {
    if (entry->kind == LEDGER_EXPLICIT)
        return physical_create(device, prop, entry);
    CUmemGenericAllocationHandle handle;
    CUresult result = real.cuMemCreate(&handle, entry->bytes, prop, flags);
    if (result == CUDA_SUCCESS)
        entry->key = handle;
    return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
    driver_need();
    bool on_device = handle && prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    struct device *device = on_device ? device_get(prop->location.id) : NULL;
    if (!device)
        return real.cuMemCreate(handle, size, prop, flags);
    device_await_daemon(device); /* the allocation kind is not known before */
    bool moves = device_allocates_explicitly(device) && physical_can_be(prop, size, flags);
    struct ledger_entry entry = {.bytes = size,
                                 .kind = moves ? LEDGER_EXPLICIT : LEDGER_PLAIN,
                                 .reason = prop->allocFlags.gpuDirectRDMACapable ? PINNED_RDMA
                                                                                 : PINNED_HANDLE,
                                 .references = 1};
    CUresult result = allocation_reserve(device, size, entry.kind);
    if (result != CUDA_SUCCESS)
        return result;
    /* If mixing has just begun, the answer was for managed memory, which this cannot be. */
    bool is_void = moves && atomic_load(&device->is_mixed);
    result = is_void ? CUDA_ERROR_OUT_OF_MEMORY : create(device, prop, flags, &entry);
    if (result == CUDA_SUCCESS)
        *handle = entry.key;
    return allocation_record(&allocations.physical, device, entry, result);
}

/* Drops references before the driver does: a handle that it has freed may belong to another thread
 * at the next moment. Adds to `gone` the memory without references. */
static void unrefer(CUmemGenericAllocationHandle handle, struct ledger_entry **gone) {
    struct ledger_entry *entry = ledger_unrefer(&allocations.physical, handle);
    if (!entry)
        return;
    entry->next_of_owner = *gone;
    *gone = entry;
}

/* Frees memory of ours that has no reference left. */
static CUresult freed(struct ledger_entry *gone, CUresult result) {
    for (const struct ledger_entry *one = gone; one && result == CUDA_SUCCESS;
         one = one->next_of_owner)
        if (ledger_is_explicit(one->kind))
            physical_is_gone(one);
    return allocation_freed(&allocations.physical, gone, result);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    driver_need();
    struct ledger_entry entry, *gone = NULL;
    struct physical *physical = physical_find(handle);
    bool is_ours =
        ledger_find(&allocations.physical, handle, &entry) == 0 && ledger_is_explicit(entry.kind);
    if (is_ours && !physical)
        return CUDA_ERROR_INVALID_VALUE; /* it was released, and lives on by its mappings */
    if (physical)
        physical_release(physical);
    unrefer(handle, &gone);
    CUresult result = freed(gone, physical ? CUDA_SUCCESS : real.cuMemRelease(handle));
    if (result != CUDA_SUCCESS)
        ledger_refer(&allocations.physical, handle);
    return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    driver_need();
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)addr;
    struct ledger_entry entry;
    struct physical *physical = handle ? physical_retain(address) : NULL;
    if (!physical && answers_find(address, &entry))
        return CUDA_ERROR_INVALID_VALUE; /* memory by cuMemAlloc has no handle */
    CUresult result = physical ? CUDA_SUCCESS : real.cuMemRetainAllocationHandle(handle, addr);
    if (physical)
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)physical;
    if (result == CUDA_SUCCESS)
        ledger_refer(&allocations.physical, *handle);
    return result;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle) {
    driver_need();
    const struct physical *physical = prop ? physical_find(handle) : NULL;
    if (!physical)
        return real.cuMemGetAllocationPropertiesFromHandle(prop, handle);
    *prop = physical->properties;
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    driver_need();
    struct physical *physical = flags ? NULL : physical_find(handle);
    CUresult result = physical ? physical_map(physical, ptr, size, offset)
                               : real.cuMemMap(ptr, size, offset, handle, flags);
    if (result != CUDA_SUCCESS || ledger_refer(&allocations.physical, handle) < 0)
        return result; /* memory of another process is not ours to count */
    struct ledger_entry mapping = {.key = ptr,
                                   .bytes = size,
                                   .target = handle,
                                   .kind = physical ? LEDGER_EXPLICIT : LEDGER_PLAIN};
    struct ledger_entry *gone = NULL;
    if (ledger_add(&allocations.mappings, &mapping) < 0)
        unrefer(handle, &gone);
    freed(gone, CUDA_SUCCESS);
    return result;
}

/* A range may hold several mappings in a row. Sets *whole to whether it holds nothing else. */
static struct ledger_entry *take_mappings(CUdeviceptr ptr, size_t size, bool *whole) {
    struct ledger_entry *all = NULL, **end = &all, *one;
    size_t done = 0;
    for (; done < size && (one = ledger_take(&allocations.mappings, ptr + done));
         end = &one->next_of_owner) {
        done += one->bytes;
        one->next_of_owner = NULL;
        *end = one;
    }
    *whole = done == size;
    return all;
}

/* Unmaps ours one by one, and the driver's own as they are. */
static CUresult unmap(CUdeviceptr ptr, size_t size, const struct ledger_entry *mappings,
                      bool whole) {
    bool any_ours = false;
    for (const struct ledger_entry *m = mappings; m; m = m->next_of_owner)
        any_ours |= m->kind == LEDGER_EXPLICIT;
    if (!any_ours)
        return real.cuMemUnmap(ptr, size);
    CUresult result = whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (const struct ledger_entry *m = mappings; m && result == CUDA_SUCCESS; m = m->next_of_owner)
        result =
            m->kind == LEDGER_EXPLICIT ? physical_unmap(m->key) : real.cuMemUnmap(m->key, m->bytes);
    return result;
}

static bool is_mapped(const struct ledger_entry *mapping) {
    CUmemGenericAllocationHandle handle;
    if (mapping->kind == LEDGER_EXPLICIT)
        return physical_at(mapping->key) != NULL;
    if (real.cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)mapping->key) != CUDA_SUCCESS)
        return false;
    real.cuMemRelease(handle);
    return true;
}

/* Moves the entries with a key, or those still mapped if key is NULL, out of a list. */
static struct ledger_entry *sort_out(struct ledger_entry **list, const uint64_t *key) {
    struct ledger_entry *out = NULL, *one;
    while ((one = *list)) {
        if (key ? one->key != *key : !is_mapped(one)) {
            list = &one->next_of_owner;
            continue;
        }
        *list = one->next_of_owner;
        one->next_of_owner = out;
        out = one;
    }
    return out;
}

/* Some may have been unmapped all the same, and only the driver knows which. The others are put
 * back, with the memory that they map. */
static void keep_mapped(struct ledger_entry **mappings, struct ledger_entry **gone) {
    struct ledger_entry *stay = sort_out(mappings, NULL);
    for (const struct ledger_entry *m = stay; m; m = m->next_of_owner) {
        ledger_put_back(&allocations.physical, sort_out(gone, &m->target));
        ledger_refer(&allocations.physical, m->target);
    }
    ledger_put_back(&allocations.mappings, stay);
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    driver_need();
    bool whole;
    struct ledger_entry *mappings = take_mappings(ptr, size, &whole), *gone = NULL;
    for (struct ledger_entry *m = mappings; m; m = m->next_of_owner)
        unrefer(m->target, &gone);
    CUresult result = unmap(ptr, size, mappings, whole);
    if (result != CUDA_SUCCESS)
        keep_mapped(&mappings, &gone);
    freed(gone, CUDA_SUCCESS);
    allocation_freed(&allocations.mappings, mappings, CUDA_SUCCESS);
    return result;
}

static CUresult set_access(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count,
                           size_t *done) {
    struct ledger_entry mapping;
    if (physical_at(ptr))
        return physical_set_access(ptr, size, desc, count, done);
    /* Up to the next mapping of ours, which begins where some mapping ends. */
    for (*done = 0; *done < size && !physical_at(ptr + *done); *done += mapping.bytes)
        if (ledger_find(&allocations.mappings, ptr + *done, &mapping) < 0) {
            *done = size;
            break;
        }
    return real.cuMemSetAccess(ptr, *done < size ? *done : size, desc, count);
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
    driver_need();
    if (!desc || !count)
        return real.cuMemSetAccess(ptr, size, desc, count);
    CUresult result = CUDA_SUCCESS;
    for (size_t at = 0, done; at < size && result == CUDA_SUCCESS; at += done)
        result = set_access(ptr + at, size - at, desc, count, &done);
    return result;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr) {
    driver_need();
    bool on_device = flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    return on_device && physical_at(ptr) ? physical_get_access(ptr, location->id, flags)
                                         : real.cuMemGetAccess(flags, location, ptr);
}

CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags) {
    driver_need();
    struct physical *physical = physical_find(handle);
    CUresult result = physical ? physical_stay(physical, &handle) : CUDA_SUCCESS;
    return result == CUDA_SUCCESS
               ? real.cuMemExportToShareableHandle(shareableHandle, handle, handleType, flags)
               : result;
}
