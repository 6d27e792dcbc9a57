/* Stream-ordered allocation. The memory exists when the call returns. The stream gets a task that
 * marks the place in its order. */
#include "../process/context.h"
#include "../process/pool.h"
#include "../process/task.h"

/* Before it gives up, the call waits for memory that streams are still to free. A real driver makes
 * the allocating stream wait; here the caller waits. */
static CUresult allocate(struct CUmemPoolHandle_st *pool, uint64_t bytes,
                         const struct CUstream_st *stream, CUdeviceptr *out) {
    for (;;) {
        struct allocation *allocation;
        driver_lock();
        if (!pool || !pool_exists(pool)) {
            driver_unlock();
            return CUDA_ERROR_INVALID_VALUE;
        }
        uint32_t own = stream->capture ? NO_INDEX : stream->queue;
        CUresult result = pool_allocate(pool, bytes, own, &allocation);
        if (result == CUDA_SUCCESS)
            *out = allocation->address;
        uint32_t awaited = result == CUDA_SUCCESS ? NO_INDEX : pool_awaited_queue(pool);
        driver_unlock();
        if (awaited == NO_INDEX)
            return result;
        queue_wait(awaited, queue_newest(awaited));
    }
}

static void take_back(CUdeviceptr address) {
    driver_lock();
    struct allocation *allocation = memory_find(address);
    if (allocation)
        memory_give_back(allocation);
    driver_unlock();
}

static CUresult allocate_in(CUdeviceptr *out, size_t bytes, struct CUmemPoolHandle_st *pool,
                            struct CUstream_st *stream) {
    CUdeviceptr address;
    CUresult result = allocate(pool, bytes, stream, &address);
    if (result != CUDA_SUCCESS)
        return result;
    struct task task = {.kind = TASK_ALLOCATE};
    task.memory.address = address;
    result = stream_do(stream, &task, NULL);
    if (result == CUDA_SUCCESS)
        *out = address;
    else
        take_back(address);
    return result;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(dptr && bytesize && pool, CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    CUresult result = stream_resolve(hStream, &stream);
    return result == CUDA_SUCCESS ? allocate_in(dptr, bytesize, pool, stream) : result;
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(dptr && bytesize, CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    CUresult result = stream_resolve(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    struct CUmemPoolHandle_st *pool = pool_current(stream->context->gpu);
    driver_unlock();
    REQUIRE(pool, CUDA_ERROR_OUT_OF_MEMORY);
    return allocate_in(dptr, bytesize, pool, stream);
}

/* Frees memory of a pool, and plain memory as well. Arrays and physical memory have owners too, but
 * the program may not free them by address. */
static bool is_freeable(CUdeviceptr address) {
    const struct allocation *allocation = memory_find(address);
    return allocation && allocation->address == address && allocation->kind == MEMORY_PLAIN &&
           !allocation->freeing && (!allocation->owner || pool_block_of(allocation));
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    struct CUstream_st *stream;
    CUresult result = stream_resolve(hStream, &stream);
    if (result != CUDA_SUCCESS || !dptr)
        return result;
    driver_lock();
    bool freeable = is_freeable(dptr);
    driver_unlock();
    REQUIRE(freeable, CUDA_ERROR_INVALID_VALUE);
    struct task task = {.kind = TASK_FREE};
    task.memory.address = dptr;
    return stream_do(stream, &task, NULL);
}
