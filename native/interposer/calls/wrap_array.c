/* Arrays: their size comes from the descriptor, since no call tells what the driver took. They
 * cannot be managed memory, and so are counted as pinned. */
#include "memory/allocations.h"
#include "process/contexts.h"
#include "process/devices.h"

/* Bytes of one channel; 0 for block-compressed and planar formats, which are for video and textures
 * and not counted. */
static size_t channel_bytes(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

static size_t at_least_one(size_t count) {
    return count ? count : 1;
}

/* An array without memory of its own gets some by cuMemMapArrayAsync, from cuMemCreate. */
static uint64_t level_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned level) {
    if (!shape || shape->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
        return 0;
    bool is_layered = shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    uint64_t width = at_least_one(shape->Width >> level);
    uint64_t height = at_least_one(shape->Height >> level);
    uint64_t depth = is_layered ? shape->Depth : at_least_one(shape->Depth >> level);
    return width * height * at_least_one(depth) * shape->NumChannels * channel_bytes(shape->Format);
}

static CUresult record(struct device *device, const void *const *handle, uint64_t bytes,
                       CUresult result) {
    struct ledger_entry entry = {
        .bytes = bytes, .kind = LEDGER_PLAIN, .reason = PINNED_ARRAY, .owner = context_here()->id};
    if (result == CUDA_SUCCESS)
        entry.key = (uintptr_t)*handle;
    return allocation_record(&allocations.arrays, device, entry, result);
}

CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    struct device *device = device_here();
    if (!device || !pAllocateArray)
        return real.cuArrayCreate_v2(pHandle, pAllocateArray);
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = pAllocateArray->Width,
                                     .Height = pAllocateArray->Height,
                                     .Format = pAllocateArray->Format,
                                     .NumChannels = pAllocateArray->NumChannels};
    uint64_t bytes = level_bytes(&shape, 0);
    CUresult result = allocation_reserve(device, bytes, LEDGER_PLAIN);
    if (result != CUDA_SUCCESS)
        return result;
    result = real.cuArrayCreate_v2(pHandle, pAllocateArray);
    return record(device, (const void *const *)pHandle, bytes, result);
}

CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    struct device *device = device_here();
    if (!device)
        return real.cuArray3DCreate_v2(pHandle, pAllocateArray);
    uint64_t bytes = level_bytes(pAllocateArray, 0);
    CUresult result = allocation_reserve(device, bytes, LEDGER_PLAIN);
    if (result != CUDA_SUCCESS)
        return result;
    result = real.cuArray3DCreate_v2(pHandle, pAllocateArray);
    return record(device, (const void *const *)pHandle, bytes, result);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) {
    struct device *device = device_here();
    if (!device)
        return real.cuMipmappedArrayCreate(pHandle, pMipmappedArrayDesc, numMipmapLevels);
    uint64_t bytes = 0;
    for (unsigned level = 0; level < numMipmapLevels && level < 32; level++)
        bytes += level_bytes(pMipmappedArrayDesc, level);
    CUresult result = allocation_reserve(device, bytes, LEDGER_PLAIN);
    if (result != CUDA_SUCCESS)
        return result;
    result = real.cuMipmappedArrayCreate(pHandle, pMipmappedArrayDesc, numMipmapLevels);
    return record(device, (const void *const *)pHandle, bytes, result);
}

CUresult cuArrayDestroy(CUarray hArray) {
    driver_need();
    struct ledger_entry *taken = ledger_take(&allocations.arrays, (uintptr_t)hArray);
    return allocation_freed(&allocations.arrays, taken, real.cuArrayDestroy(hArray));
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
    driver_need();
    struct ledger_entry *taken = ledger_take(&allocations.arrays, (uintptr_t)hMipmappedArray);
    return allocation_freed(&allocations.arrays, taken,
                            real.cuMipmappedArrayDestroy(hMipmappedArray));
}
