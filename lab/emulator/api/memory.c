/* Plain device memory: allocation, release, and the amount left. */
#include "../process/memory.h"

#include "../model/residency.h"
#include "../process/context.h"
#include "../process/pool.h"
#include "capture.h"
#include "graph_memory.h"

enum { PITCH_ALIGNMENT = 512 };

static CUresult allocate(struct CUctx_st *context, size_t bytes, CUdeviceptr *out) {
    struct allocation *allocation;
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    result = memory_allocate_plain(context, context->gpu, bytes, &allocation);
    if (result == CUDA_SUCCESS)
        *out = allocation->address;
    driver_unlock();
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    REQUIRE_CONTEXT(context);
    REQUIRE(dptr && bytesize, CUDA_ERROR_INVALID_VALUE);
    return allocate(context, bytesize, dptr);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
    REQUIRE_CONTEXT(context);
    REQUIRE(dptr && pPitch && WidthInBytes && Height, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16,
            CUDA_ERROR_INVALID_VALUE);
    size_t pitch, bytes;
    if (__builtin_add_overflow(WidthInBytes, PITCH_ALIGNMENT - 1, &pitch))
        return CUDA_ERROR_OUT_OF_MEMORY;
    pitch = pitch / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (__builtin_mul_overflow(pitch, Height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = allocate(context, bytes, dptr);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch;
    return result;
}

/* The allocation a program may free by this address, or NULL. Arrays and physical memory are plain
 * allocations too, but the program does not get their addresses. */
static struct allocation *freeable(CUdeviceptr address) {
    struct allocation *found = memory_find(address);
    if (!found || found->address != address || found->freeing)
        return NULL;
    if (found->kind == MEMORY_MANAGED)
        return found;
    return found->kind == MEMORY_PLAIN && (!found->owner || pool_block_of(found)) ? found : NULL;
}

/* Needs no current context, since the address identifies it: numba-cuda frees its remaining memory
 * after it has popped its contexts. */
CUresult cuMemFree_v2(CUdeviceptr dptr) {
    REQUIRE_LIVE_CONTEXT();
    struct CUctx_st *context = context_current();
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS || !dptr)
        return result;
    driver_lock();
    struct allocation *allocation = freeable(dptr);
    struct CUctx_st *of = allocation && allocation->context ? allocation->context : context;
    if (allocation)
        allocation->freeing = true; /* if a second thread frees it too, that one gets an error */
    driver_unlock();
    REQUIRE(allocation, CUDA_ERROR_INVALID_VALUE);
    if (of)
        context_synchronize(of);
    driver_lock();
    if (graph_memory_free(dptr))
        allocation->freeing = false; /* the graph may be launched again */
    else
        memory_give_back(allocation);
    driver_unlock();
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    REQUIRE_CONTEXT(context);
    node_lock(driver->node);
    uint64_t left = gpu_free_bytes(&driver->node->gpus[context->gpu]);
    node_unlock(driver->node);
    if (free)
        *free = left;
    if (total)
        *total = gpu_profile(context->gpu)->usable_bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    REQUIRE_CONTEXT(context);
    (void)context;
    driver_lock();
    const struct allocation *allocation = memory_find(dptr);
    if (allocation && pbase)
        *pbase = allocation->address;
    if (allocation && psize)
        *psize = allocation->bytes;
    driver_unlock();
    return allocation ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
