/* Managed memory: allocation, advice. Prefetches and queries have files of their own. */
#include "managed.h"

#include "../process/context.h"
#include "capture.h"

enum { HOST_BIT = 15 }; /* of block.accessed_by */

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    REQUIRE_CONTEXT(context);
    REQUIRE(dptr && bytesize, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, CUDA_ERROR_INVALID_VALUE);
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    struct allocation *allocation;
    driver_lock();
    result = memory_allocate_managed(context, bytesize, &allocation);
    if (result == CUDA_SUCCESS) {
        allocation->gpu = context->gpu;
        allocation->flags = flags;
        *dptr = allocation->address;
    }
    driver_unlock();
    return result;
}

CUresult managed_check(CUdeviceptr address, size_t bytes) {
    REQUIRE(bytes && address + bytes > address, CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    driver_lock();
    while (bytes && result == CUDA_SUCCESS) {
        const struct allocation *allocation = memory_find(address);
        if (!allocation || allocation->kind != MEMORY_MANAGED) {
            result = CUDA_ERROR_INVALID_VALUE;
            break;
        }
        uint64_t piece = allocation->bytes - (address - allocation->address);
        piece = piece < bytes ? piece : bytes;
        address += piece;
        bytes -= piece;
    }
    driver_unlock();
    return result;
}

struct block_span managed_blocks(CUdeviceptr address, size_t bytes) {
    uint32_t first = memory_block(address);
    return (struct block_span){first, memory_block(address + bytes - 1) - first + 1};
}

CUresult location_of_device(CUdevice device, uint8_t *out) {
    if (device == CU_DEVICE_CPU) {
        *out = LOCATION_HOST;
        return CUDA_SUCCESS;
    }
    REQUIRE_DEVICE(device);
    *out = (uint8_t)(LOCATION_GPU + gpu_of_device(device));
    return CUDA_SUCCESS;
}

CUresult location_of(CUmemLocation location, uint8_t *out) {
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        REQUIRE(location.id >= 0, CUDA_ERROR_INVALID_DEVICE);
        return location_of_device(location.id, out);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: *out = LOCATION_HOST; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static uint16_t accessor_bit(uint8_t location) {
    return (uint16_t)(1u << (location == LOCATION_HOST ? HOST_BIT : location - LOCATION_GPU));
}

static void advise_block(struct block *block, CUmem_advise advice, uint8_t location) {
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: block->read_mostly = 1; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: block->read_mostly = 0; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: block->preferred = location; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: block->preferred = LOCATION_NOWHERE; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: block->accessed_by |= accessor_bit(location); break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        block->accessed_by &= (uint16_t)~accessor_bit(location);
        break;
    }
}

/* Advice that is not about a place ignores it. */
static bool needs_place(CUmem_advise advice) {
    return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
           advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice, uint8_t location) {
    CUresult result = managed_check(address, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    struct block_span span = managed_blocks(address, bytes);
    struct block *blocks = driver_slot()->blocks;
    node_lock(driver->node);
    for (uint32_t i = 0; i < span.count; i++)
        advise_block(&blocks[span.first + i], advice, location);
    node_unlock(driver->node);
    return CUDA_SUCCESS;
}

static bool is_advice(CUmem_advise advice) {
    return advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(is_advice(advice), CUDA_ERROR_INVALID_VALUE);
    uint8_t location = LOCATION_NOWHERE;
    CUresult result = needs_place(advice) ? location_of_device(device, &location) : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? advise(devPtr, count, advice, location) : result;
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                        CUmemLocation location) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(is_advice(advice), CUDA_ERROR_INVALID_VALUE);
    uint8_t place = LOCATION_NOWHERE;
    CUresult result = needs_place(advice) ? location_of(location, &place) : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? advise(devPtr, count, advice, place) : result;
}
