/* Arrays: made, described, destroyed. Copies to and from them are in copy.c and copy_box.c. */
#include "array.h"

#include <stdlib.h>

#include "../process/context.h"
#include "../unsupported.h"

size_t array_element_bytes(CUarray_format format, unsigned channels) {
    if (channels != 1 && channels != 2 && channels != 4)
        return 0;
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4: return channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4: return 2 * (size_t)channels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4 * (size_t)channels;
    case CU_AD_FORMAT_UNORM_INT_101010_2: return 4;
    default: return 0;
    }
}

static size_t at_least_one(size_t size) {
    return size ? size : 1;
}

static size_t row_bytes(const struct CUarray_st *array) {
    return array->shape.Width * array->element_bytes;
}

static size_t array_bytes(const struct CUarray_st *array) {
    return row_bytes(array) * at_least_one(array->shape.Height) * at_least_one(array->shape.Depth);
}

static bool exists(const struct CUarray_st *array) {
    return array && array->magic == ARRAY_MAGIC;
}

uint64_t array_address(CUarray array, size_t offset, size_t bytes) {
    if (!exists(array) || !array->memory)
        return 0;
    size_t whole = array_bytes(array);
    return offset <= whole && bytes <= whole - offset ? array->address + offset : 0;
}

static bool inside(size_t at, size_t length, size_t whole) {
    return at <= whole && length <= whole - at;
}

CUresult array_side(CUarray array, size_t x, size_t y, size_t z, const struct copy_task *box,
                    struct copy_side *out) {
    REQUIRE(exists(array), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(array->memory, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    size_t height = at_least_one(array->shape.Height);
    REQUIRE(inside(x, box->width, row_bytes(array)) && inside(y, box->rows, height) &&
                inside(z, box->layers, at_least_one(array->shape.Depth)),
            CUDA_ERROR_INVALID_VALUE);
    out->pitch = row_bytes(array);
    out->height = height;
    out->address = array->address + (z * height + y) * out->pitch + x;
    return CUDA_SUCCESS;
}

/* No allocation is that large, so the products below cannot overflow. */
static bool is_sane(const CUDA_ARRAY3D_DESCRIPTOR *shape) {
    const size_t most = 1 << 20;
    return shape->Width && shape->Width <= most && shape->Height <= most && shape->Depth <= most &&
           (shape->Height || !shape->Depth || (shape->Flags & CUDA_ARRAY3D_LAYERED));
}

CUresult array_check_shape(const CUDA_ARRAY3D_DESCRIPTOR *shape) {
    REQUIRE(shape && is_sane(shape), CUDA_ERROR_INVALID_VALUE);
    if (shape->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
        return emulator_unsupported("an array without memory (sparse, deferred mapping)");
    if ((shape->Flags & CUDA_ARRAY3D_CUBEMAP) && shape->Depth % 6)
        return CUDA_ERROR_INVALID_VALUE;
    if (shape->NumChannels == 1 || shape->NumChannels == 2 || shape->NumChannels == 4)
        return array_element_bytes(shape->Format, shape->NumChannels)
                   ? CUDA_SUCCESS
                   : emulator_unsupported("an array of a planar or compressed format");
    return CUDA_ERROR_INVALID_VALUE;
}

static void forget_memory(struct allocation *allocation) {
    ((struct CUarray_st *)allocation->owner)->memory = NULL;
}

static CUresult give_memory(struct CUctx_st *context, struct CUarray_st *array) {
    driver_lock();
    CUresult result =
        memory_allocate_plain(context, context->gpu, array_bytes(array), &array->memory);
    if (result == CUDA_SUCCESS) {
        array->memory->owner = array;
        array->memory->finish = forget_memory;
        array->address = array->memory->address;
    }
    driver_unlock();
    return result;
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *shape) {
    REQUIRE_CONTEXT(context);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    CUresult result = array_check_shape(shape);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUarray_st *array = calloc(1, sizeof *array);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    array->magic = ARRAY_MAGIC;
    array->shape = *shape;
    array->element_bytes = array_element_bytes(shape->Format, shape->NumChannels);
    result = give_memory(context, array);
    if (result == CUDA_SUCCESS)
        *out = array;
    else
        free(array);
    return result;
}

CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    REQUIRE(pAllocateArray, CUDA_ERROR_INVALID_VALUE);
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = pAllocateArray->Width,
                                     .Height = pAllocateArray->Height,
                                     .Format = pAllocateArray->Format,
                                     .NumChannels = pAllocateArray->NumChannels};
    return create(pHandle, &shape);
}

CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    return create(pHandle, pAllocateArray);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    REQUIRE_DRIVER();
    REQUIRE(pArrayDescriptor, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(exists(hArray), CUDA_ERROR_INVALID_HANDLE);
    *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = hArray->shape.Width,
                                                .Height = hArray->shape.Height,
                                                .Format = hArray->shape.Format,
                                                .NumChannels = hArray->shape.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    REQUIRE_DRIVER();
    REQUIRE(pArrayDescriptor, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(exists(hArray), CUDA_ERROR_INVALID_HANDLE);
    *pArrayDescriptor = hArray->shape;
    return CUDA_SUCCESS;
}

/* Documented for arrays with deferred mapping only, which do not exist here. */
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                      CUarray array, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(memoryRequirements, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(exists(array), CUDA_ERROR_INVALID_HANDLE);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayDestroy(CUarray hArray) {
    REQUIRE_CONTEXT(context);
    REQUIRE(exists(hArray), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!hArray->is_level, CUDA_ERROR_INVALID_HANDLE);
    context_synchronize(context);
    driver_lock();
    if (hArray->memory)
        memory_release(hArray->memory);
    hArray->magic = 0;
    driver_unlock();
    free(hArray);
    return CUDA_SUCCESS;
}
