/* Stream-ordered memory. It belongs to a pool and not to a context, and cannot be managed memory.
 * Where memory is explicit it moves too (explicit/pooled.h); elsewhere, and if others may know its
 * pool, it is the driver's, and counted as pinned. Allocated memory counts against limits. Memory
 * that the pool keeps for later does too, and is given back before any allocation is refused
 * because of it. */
#include "explicit/pooled.h"
#include "memory/allocations.h"
#include "memory/graphs.h"
#include "process/devices.h"
#include "process/streams.h"

/* The pool may belong to another GPU, or to the host; only the memory itself tells. */
static struct device *device_of(CUdeviceptr pointer, struct device *otherwise) {
    unsigned type = CU_MEMORYTYPE_DEVICE;
    int ordinal = -1;
    real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
    if (type == CU_MEMORYTYPE_HOST)
        return NULL;
    if (real.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer) !=
            CUDA_SUCCESS ||
        ordinal == otherwise->ordinal)
        return otherwise;
    struct device *device = device_get(ordinal);
    return device ? device : otherwise;
}

/* Enters an allocation that was reserved on one device, and may have turned out to be elsewhere. */
static CUresult record_where_it_is(struct device *reserved, CUdeviceptr *pointer, size_t bytes,
                                   CUstream stream, CUresult result) {
    struct ledger_entry entry = {.bytes = bytes, .kind = LEDGER_PLAIN, .reason = PINNED_POOL};
    struct device *device = reserved;
    if (result == CUDA_SUCCESS) {
        entry.key = *pointer;
        device = device_of(*pointer, reserved);
        if (device)
            pools_note(device->ordinal, *pointer);
    }
    if (device == reserved)
        return allocation_record(&allocations.memory, reserved, entry, result);
    account_release(&reserved->account, bytes, true);
    if (!device)
        return result;
    result = allocation_reserve_pooled(device, bytes, LEDGER_PLAIN);
    if (result == CUDA_SUCCESS)
        return allocation_record(&allocations.memory, device, entry, result);
    real.cuMemFreeAsync(*pointer, stream);
    return result;
}

/* In a capture this makes a node of a graph, and no memory: see graphs.h. */
static struct device *device_for(CUstream stream) {
    struct device *device = device_here();
    if (!device || !stream_is_capturing(stream))
        return device;
    atomic_store_explicit(&graphs_have_memory, true, memory_order_relaxed);
    return NULL;
}

/* The pool that explicit memory is to come from, or NULL: then it is the driver's. A NULL handle is
 * the device's current pool. */
static struct pool *pool_for(struct device *device, CUmemoryPool pool) {
    device_await_daemon(device); /* the allocation kind is not known before */
    if (!device_allocates_explicitly(device))
        return NULL;
    if (!pool && real.cuDeviceGetMemPool(&pool, device->ordinal) != CUDA_SUCCESS)
        return NULL;
    return pools_serving(device->ordinal, pool);
}

static CUresult allocate_explicitly(struct device *device, struct pool *pool, CUdeviceptr *dptr,
                                    size_t bytes, CUstream stream) {
    struct ledger_entry entry = {.bytes = bytes, .kind = LEDGER_EXPLICIT, .pool = pool};
    struct block *block = pooled_take(device, pool, bytes, stream);
    CUresult result = allocation_reserve_pooled(device, bytes, entry.kind);
    /* If mixing has just begun, the answer was for managed memory, which this cannot be. */
    bool is_void = result == CUDA_SUCCESS && atomic_load(&device->is_mixed);
    if (result != CUDA_SUCCESS || is_void)
        pooled_put_back(device, pool, block);
    if (result != CUDA_SUCCESS)
        return result;
    result = is_void ? CUDA_ERROR_OUT_OF_MEMORY : pooled_allocate(device, &entry, block);
    if (result == CUDA_SUCCESS)
        *dptr = entry.key;
    return allocation_record(&allocations.memory, device, entry, result);
}

/* What the program asks for: by one of these calls; the other is NULL. */
struct wish {
    __typeof__(cuMemAllocAsync) *call;
    __typeof__(cuMemAllocFromPoolAsync) *call_with_pool;
    CUdeviceptr *dptr;
    size_t bytes;
    CUmemoryPool pool;
    CUstream given, stream; /* as it was given, and the stream that it means */
};

static CUresult ask_driver(const struct wish *wish) {
    return wish->call ? wish->call(wish->dptr, wish->bytes, wish->given)
                      : wish->call_with_pool(wish->dptr, wish->bytes, wish->pool, wish->given);
}

static CUresult allocate(const struct wish *wish) {
    struct device *device = device_for(wish->stream);
    if (!device || !wish->dptr || !wish->bytes || (wish->call_with_pool && !wish->pool))
        return ask_driver(wish);
    struct pool *served = pool_for(device, wish->pool);
    if (served)
        return allocate_explicitly(device, served, wish->dptr, wish->bytes, wish->stream);
    CUresult result = allocation_reserve_pooled(device, wish->bytes, LEDGER_PLAIN);
    if (result != CUDA_SUCCESS)
        return result;
    return record_where_it_is(device, wish->dptr, wish->bytes, wish->stream, ask_driver(wish));
}

/* The program asked for plain memory, which this call can free; what it has got instead cannot. */
static CUresult free_converted(CUdeviceptr dptr, CUstream stream) {
    CUresult result = real.cuStreamSynchronize(stream);
    return result == CUDA_SUCCESS ? real.cuMemFree_v2(dptr) : result;
}

static CUresult release(__typeof__(cuMemFreeAsync) *call, CUdeviceptr dptr, CUstream given,
                        CUstream stream) {
    if (!device_for(stream))
        return call(dptr, given);
    struct ledger_entry *taken = ledger_take(&allocations.memory, dptr);
    struct device *device = taken ? device_known(taken->device) : NULL;
    bool is_kept = taken && ledger_is_explicit(taken->kind);
    CUresult result;
    if (is_kept)
        result = pooled_free(device, taken, stream);
    else if (taken && taken->kind == LEDGER_CONVERTED)
        result = free_converted(dptr, stream);
    else
        result = call(dptr, given);
    result = allocation_freed(&allocations.memory, taken, result);
    if (is_kept)
        pooled_count(device);
    return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    driver_need();
    return allocate(&(struct wish){.call = real.cuMemAllocAsync,
                                   .dptr = dptr,
                                   .bytes = bytesize,
                                   .given = hStream,
                                   .stream = stream_legacy(hStream)});
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    driver_need();
    return allocate(&(struct wish){.call = real.cuMemAllocAsync_ptsz,
                                   .dptr = dptr,
                                   .bytes = bytesize,
                                   .given = hStream,
                                   .stream = stream_per_thread(hStream)});
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) {
    driver_need();
    return allocate(&(struct wish){.call_with_pool = real.cuMemAllocFromPoolAsync,
                                   .dptr = dptr,
                                   .bytes = bytesize,
                                   .pool = pool,
                                   .given = hStream,
                                   .stream = stream_legacy(hStream)});
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                      CUstream hStream) {
    driver_need();
    return allocate(&(struct wish){.call_with_pool = real.cuMemAllocFromPoolAsync_ptsz,
                                   .dptr = dptr,
                                   .bytes = bytesize,
                                   .pool = pool,
                                   .given = hStream,
                                   .stream = stream_per_thread(hStream)});
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    driver_need();
    return release(real.cuMemFreeAsync, dptr, hStream, stream_legacy(hStream));
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    driver_need();
    return release(real.cuMemFreeAsync_ptsz, dptr, hStream, stream_per_thread(hStream));
}
