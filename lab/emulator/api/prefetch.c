/* Prefetches of managed memory, singly and in batches. */
#include "../process/context.h"
#include "../process/task.h"
#include "managed.h"

static void note_prefetch(CUdeviceptr address, size_t bytes, uint8_t target) {
    struct block_span span = managed_blocks(address, bytes);
    struct block *blocks = driver_slot()->blocks;
    node_lock(driver->node);
    for (uint32_t i = 0; i < span.count; i++)
        blocks[span.first + i].last_prefetch = target;
    node_unlock(driver->node);
}

static CUresult error_of(int error) {
    return error < 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* Returns when the driver would: to the CPU when everything has arrived, to the GPU when the copies
 * are queued, and at once if the stream has other work to do first. */
static CUresult prefetch(struct CUstream_st *stream, CUdeviceptr address, size_t bytes,
                         uint8_t target) {
    struct task task = {.kind = TASK_PREFETCH};
    task.prefetch.address = address;
    task.prefetch.bytes = bytes;
    task.prefetch.target = target;
    if (stream->capture)
        return stream_do(stream, &task, NULL);
    note_prefetch(address, bytes, target);
    uint64_t ticket = 0;
    CUresult result = stream_do(stream, &task, &ticket);
    return result == CUDA_SUCCESS ? error_of(queue_wait_issued(stream->queue, ticket)) : result;
}

static CUresult check_and_prefetch(CUdeviceptr address, size_t bytes, uint8_t target,
                                   CUstream handle) {
    struct CUstream_st *stream;
    CUresult result = managed_check(address, bytes);
    if (result == CUDA_SUCCESS)
        result = stream_resolve(handle, &stream);
    return result == CUDA_SUCCESS ? prefetch(stream, address, bytes, target) : result;
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                            CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    uint8_t target;
    CUresult result = location_of_device(dstDevice, &target);
    return result == CUDA_SUCCESS ? check_and_prefetch(devPtr, count, target, hStream) : result;
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                               unsigned int flags, CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(!flags, CUDA_ERROR_INVALID_VALUE);
    uint8_t target;
    CUresult result = location_of(location, &target);
    return result == CUDA_SUCCESS ? check_and_prefetch(devPtr, count, target, hStream) : result;
}

static CUresult check_ranges(const CUdeviceptr *addresses, const size_t *sizes, size_t count) {
    REQUIRE(addresses && sizes && count, CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = managed_check(addresses[i], sizes[i]);
    return result;
}

/* Place k applies from range firsts[k] up to the first range of the next place. */
static CUresult check_places(const CUmemLocation *places, const size_t *firsts, size_t place_count,
                             size_t count) {
    REQUIRE(places && firsts && place_count && place_count <= count && firsts[0] == 0,
            CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    for (size_t k = 0; k < place_count && result == CUDA_SUCCESS; k++) {
        uint8_t target;
        result = location_of(places[k], &target);
        if (k && (firsts[k] <= firsts[k - 1] || firsts[k] >= count))
            result = CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                 CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                 size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(!flags && hStream && hStream != CU_STREAM_LEGACY, CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    CUresult result = check_ranges(dptrs, sizes, count);
    if (result == CUDA_SUCCESS)
        result = check_places(prefetchLocs, prefetchLocIdxs, numPrefetchLocs, count);
    if (result == CUDA_SUCCESS)
        result = stream_resolve(hStream, &stream);
    for (size_t i = 0, place = 0; i < count && result == CUDA_SUCCESS; i++) {
        uint8_t target;
        if (place + 1 < numPrefetchLocs && prefetchLocIdxs[place + 1] == i)
            place++;
        location_of(prefetchLocs[place], &target);
        result = prefetch(stream, dptrs[i], sizes[i], target);
    }
    return result;
}

/* A discard allows the driver to save work. This driver keeps the bytes, which is allowed too. */
CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                unsigned long long flags, CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(!flags && hStream && hStream != CU_STREAM_LEGACY, CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    CUresult result = stream_resolve(hStream, &stream);
    return result == CUDA_SUCCESS ? check_ranges(dptrs, sizes, count) : result;
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                           CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                           size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream) {
    return cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
                                   numPrefetchLocs, flags, hStream);
}
