/* Mipmapped arrays: one allocation, and an array on a part of it for every level. */
#include <stdlib.h>

#include "../process/context.h"
#include "array.h"

enum { LEVEL_ALIGNMENT = 512 };

struct CUmipmappedArray_st {
    uint32_t magic;
    struct allocation *memory; /* NULL once its context is gone */
    unsigned count;
    struct CUarray_st levels[];
};

static size_t halved(size_t size, unsigned times) {
    size_t result = times < 64 ? size >> times : 0;
    return size && !result ? 1 : result; /* an absent dimension stays absent */
}

static size_t bytes_of(const struct CUarray_st *level) {
    size_t height = level->shape.Height ? level->shape.Height : 1;
    size_t depth = level->shape.Depth ? level->shape.Depth : 1;
    return level->shape.Width * level->element_bytes * height * depth;
}

static void describe_level(struct CUarray_st *level, const CUDA_ARRAY3D_DESCRIPTOR *shape,
                           unsigned number) {
    bool layered = shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    level->magic = ARRAY_MAGIC;
    level->is_level = true;
    level->shape = *shape;
    level->shape.Width = halved(shape->Width, number);
    level->shape.Height = halved(shape->Height, number);
    level->shape.Depth = layered ? shape->Depth : halved(shape->Depth, number);
    level->element_bytes = array_element_bytes(shape->Format, shape->NumChannels);
}

static void forget_memory(struct allocation *allocation) {
    struct CUmipmappedArray_st *mipmap = allocation->owner;
    mipmap->memory = NULL;
    for (unsigned i = 0; i < mipmap->count; i++)
        mipmap->levels[i].memory = NULL;
}

static CUresult give_memory(struct CUctx_st *context, struct CUmipmappedArray_st *mipmap) {
    size_t bytes = 0;
    for (unsigned i = 0; i < mipmap->count;
         i++) { /* offsets first, addresses once they are known */
        mipmap->levels[i].address = bytes;
        bytes += (bytes_of(&mipmap->levels[i]) + LEVEL_ALIGNMENT - 1) & ~(LEVEL_ALIGNMENT - 1ul);
    }
    driver_lock();
    CUresult result = memory_allocate_plain(context, context->gpu, bytes, &mipmap->memory);
    if (result == CUDA_SUCCESS) {
        mipmap->memory->owner = mipmap;
        mipmap->memory->finish = forget_memory;
        for (unsigned i = 0; i < mipmap->count; i++) {
            mipmap->levels[i].address += mipmap->memory->address;
            mipmap->levels[i].memory = mipmap->memory;
        }
    }
    driver_unlock();
    return result;
}

static unsigned useful_levels(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned wanted) {
    size_t largest = shape->Width > shape->Height ? shape->Width : shape->Height;
    bool layered = shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    if (!layered && shape->Depth > largest)
        largest = shape->Depth;
    unsigned most = 1;
    while (largest >> most)
        most++;
    return wanted < most ? wanted : most;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) {
    REQUIRE_CONTEXT(context);
    REQUIRE(pHandle && numMipmapLevels, CUDA_ERROR_INVALID_VALUE);
    CUresult result = array_check_shape(pMipmappedArrayDesc);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned count = useful_levels(pMipmappedArrayDesc, numMipmapLevels);
    struct CUmipmappedArray_st *mipmap =
        calloc(1, sizeof *mipmap + count * sizeof mipmap->levels[0]);
    if (!mipmap)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mipmap->magic = MIPMAP_MAGIC;
    mipmap->count = count;
    for (unsigned i = 0; i < count; i++)
        describe_level(&mipmap->levels[i], pMipmappedArrayDesc, i);
    result = give_memory(context, mipmap);
    if (result == CUDA_SUCCESS)
        *pHandle = mipmap;
    else
        free(mipmap);
    return result;
}

static bool exists(const struct CUmipmappedArray_st *mipmap) {
    return mipmap && mipmap->magic == MIPMAP_MAGIC;
}

CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level) {
    REQUIRE_DRIVER();
    REQUIRE(exists(hMipmappedArray), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(pLevelArray && level < hMipmappedArray->count, CUDA_ERROR_INVALID_VALUE);
    *pLevelArray = &hMipmappedArray->levels[level];
    return CUDA_SUCCESS;
}

/* As for cuArrayGetMemoryRequirements. */
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(memoryRequirements, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(exists(mipmap), CUDA_ERROR_INVALID_HANDLE);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
    REQUIRE_CONTEXT(context);
    REQUIRE(exists(hMipmappedArray), CUDA_ERROR_INVALID_HANDLE);
    context_synchronize(context);
    driver_lock();
    if (hMipmappedArray->memory)
        memory_release(hMipmappedArray->memory);
    hMipmappedArray->magic = 0;
    driver_unlock();
    free(hMipmappedArray);
    return CUDA_SUCCESS;
}
