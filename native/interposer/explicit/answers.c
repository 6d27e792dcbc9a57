#include "answers.h"

#include <string.h>

#include "memory/allocations.h"
#include "memory/pools.h"
#include "physical.h"
#include "process/contexts.h"
#include "process/devices.h"

/* The beginning of the allocation that an address may lie in. It exists if the ledger knows it. */
static bool find_on(struct device *device, uint64_t address, uint64_t *begin) {
    explicit_lock(&device->explicit);
    const struct mapping *mapping = regions_find(&device->explicit.regions, address);
    bool is_found = mapping && !mapping->region->physical;
    if (is_found) {
        const struct slab *slab = mapping->region->slab;
        *begin = mapping->address + (slab ? slab_place(slab, address - mapping->address) : 0);
    }
    explicit_unlock(&device->explicit);
    return is_found;
}

bool answers_find(CUdeviceptr pointer, struct ledger_entry *entry) {
    uint64_t begin;
    if (!gate_calls_are_marked()) /* there is no explicit memory */
        return false;
    for (int i = 0; i < DEVICES_MAX; i++)
        if (device_known(i) && find_on(device_known(i), pointer, &begin))
            return ledger_find(&allocations.memory, begin, entry) == 0 &&
                   pointer - entry->key < entry->bytes;
    return false;
}

struct value {
    uint64_t bits;
    size_t bytes;
};

static struct value number(uint64_t bits) {
    return (struct value){bits, 4};
}

static struct value address(uint64_t bits) {
    return (struct value){bits, 8};
}

/* The driver's own numbers would come from the same series, so ours are far from it. */
static uint64_t identity(const struct ledger_entry *entry) {
    return entry->serial | (uint64_t)1 << 62;
}

static struct value look_up(const struct ledger_entry *entry, CUpointer_attribute attribute,
                            CUdeviceptr pointer) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return address((uintptr_t)context_handle(entry->owner));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return number(CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return address(pointer);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return address(identity(entry));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return number(0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return number((uint64_t)entry->device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return number(0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return address(entry->key);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return address(entry->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return number(1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return address(0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return number(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return number(0);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return address(entry->pool ? (uintptr_t)entry->pool->handle : 0);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return address(entry->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return address(entry->key);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return address(identity(entry));
    default: return (struct value){0};
    }
}

/* Rights of the current device. */
static uint64_t rights(const struct mapping *mapping) {
    const struct device *device = device_here();
    for (unsigned i = 0; device && i < mapping->access_count; i++)
        if (mapping->access[i].gpu == device->ordinal)
            return (uint64_t)mapping->access[i].flags;
    return 0;
}

/* Memory that the program has mapped itself. The driver knows reserved addresses in any case. No
 * context owns the memory. */
static struct value look_up_mapping(const struct mapping *mapping, CUpointer_attribute attribute,
                                    CUdeviceptr pointer) {
    const struct physical *physical = mapping->region->physical;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return address(0);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return number(CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return address(pointer);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return address(mapping->region->serial | (uint64_t)3 << 61);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return number(0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return number((uint64_t)physical->device->ordinal);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return number(0);
    case CU_POINTER_ATTRIBUTE_MAPPED: return number(1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return address((uint64_t)physical->properties.requestedHandleTypes);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return number(rights(mapping));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return address(0);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return address(mapping->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return address(mapping->address);
    default: return (struct value){0};
    }
}

static bool give(struct value value, CUpointer_attribute attribute, void *data, CUresult *result) {
    *result = CUDA_SUCCESS;
    if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER)
        *result =
            CUDA_ERROR_INVALID_VALUE; /* there is none, and drivers call that a wrong question */
    else if (!value.bytes || !data)
        return false;
    else
        memcpy(data, &value.bits, value.bytes);
    return true;
}

bool answers_attribute(CUpointer_attribute attribute, CUdeviceptr pointer, void *data,
                       CUresult *result) {
    struct ledger_entry entry;
    struct mapping mapping;
    if (answers_find(pointer, &entry))
        return give(look_up(&entry, attribute, pointer), attribute, data, result);
    return physical_mapping(pointer, &mapping) &&
           give(look_up_mapping(&mapping, attribute, pointer), attribute, data, result);
}

bool answers_range(CUdeviceptr pointer, CUdeviceptr *begin, size_t *bytes) {
    struct ledger_entry entry;
    struct mapping mapping;
    bool is_plain = answers_find(pointer, &entry);
    if (!is_plain && !physical_mapping(pointer, &mapping))
        return false;
    if (begin)
        *begin = is_plain ? entry.key : mapping.address;
    if (bytes)
        *bytes = is_plain ? entry.bytes : mapping.bytes;
    return true;
}
