/* The advice for a range of managed memory, and the place it was last prefetched to. An attribute
 * has a value only if it is the same for the whole range. */
#include <string.h>

#include "../process/context.h"
#include "managed.h"

enum { HOST_BIT = 15 }; /* of block.accessed_by */

/* The values that all blocks of a range share. */
struct agreement {
    bool read_mostly;
    uint8_t preferred, last_prefetch; /* LOCATION_NOWHERE: none, or not the same */
    uint16_t accessed_by;
};

static struct agreement agree(struct block_span span) {
    const struct block *blocks = driver_slot()->blocks + span.first;
    node_lock(driver->node);
    struct agreement all = {blocks->read_mostly, blocks->preferred, blocks->last_prefetch,
                            blocks->accessed_by};
    for (uint32_t i = 1; i < span.count; i++) {
        all.read_mostly &= blocks[i].read_mostly;
        all.accessed_by &= blocks[i].accessed_by;
        if (all.preferred != blocks[i].preferred)
            all.preferred = LOCATION_NOWHERE;
        if (all.last_prefetch != blocks[i].last_prefetch)
            all.last_prefetch = LOCATION_NOWHERE;
    }
    node_unlock(driver->node);
    return all;
}

static int32_t device_at(uint8_t location) {
    if (location == LOCATION_NOWHERE)
        return CU_DEVICE_INVALID;
    return location == LOCATION_HOST ? CU_DEVICE_CPU : device_of_gpu(location - LOCATION_GPU);
}

static int32_t type_of(uint8_t location) {
    if (location == LOCATION_NOWHERE)
        return CU_MEM_LOCATION_TYPE_INVALID;
    return location == LOCATION_HOST ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
}

/* Callers ignore the id of a location that is not a device, so 0 will do. */
static int32_t id_of(uint8_t location) {
    return location >= LOCATION_GPU ? device_at(location) : 0;
}

/* As many accessors as there is room for; the remaining entries say "no accessor". */
static CUresult list_accessors(uint16_t accessed_by, int32_t *out, size_t bytes) {
    REQUIRE(bytes && bytes % sizeof *out == 0, CUDA_ERROR_INVALID_VALUE);
    size_t room = bytes / sizeof *out, count = 0;
    for (CUdevice d = 0; device_exists(d) && count < room; d++)
        if (accessed_by >> gpu_of_device(d) & 1)
            out[count++] = d;
    if (accessed_by >> HOST_BIT & 1 && count < room)
        out[count++] = CU_DEVICE_CPU;
    while (count < room)
        out[count++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult answer(const struct agreement *all, CUmem_range_attribute attribute, void *data,
                       size_t bytes) {
    int32_t value;
    REQUIRE(data, CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: return list_accessors(all->accessed_by, data, bytes);
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: value = all->read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: value = device_at(all->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = device_at(all->last_prefetch);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: value = type_of(all->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: value = id_of(all->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = type_of(all->last_prefetch);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: value = id_of(all->last_prefetch); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    REQUIRE(bytes == sizeof value, CUDA_ERROR_INVALID_VALUE);
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(data && dataSizes && attributes && numAttributes, CUDA_ERROR_INVALID_VALUE);
    CUresult result = managed_check(devPtr, count);
    if (result != CUDA_SUCCESS)
        return result;
    struct agreement all = agree(managed_blocks(devPtr, count));
    for (size_t i = 0; i < numAttributes && result == CUDA_SUCCESS; i++)
        result = answer(&all, attributes[i], data[i], dataSizes[i]);
    return result;
}

CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count) {
    return cuMemRangeGetAttributes(&data, &dataSize, &attribute, 1, devPtr, count);
}
