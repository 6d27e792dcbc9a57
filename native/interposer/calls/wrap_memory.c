/* Memory by address: cuMemAlloc, cuMemAllocPitch, cuMemAllocManaged, cuMemFree.
 *
 * The 32-bit versions of CUDA 3.1 are not hooked: they have no room for a present-day address. */
#include "explicit/pooled.h"
#include "memory/allocations.h"
#include "process/contexts.h"
#include "process/devices.h"

enum { PITCH_ALIGNMENT = 512 }; /* as drivers have it for every GPU of the last ten years */

/* Decided once it is known whether there is a daemon. */
static enum ledger_kind kind_on(struct device *device) {
    device_await_daemon(device);
    if (device_allocates_explicitly(device))
        return LEDGER_EXPLICIT;
    return device_moves_memory(device) ? LEDGER_CONVERTED : LEDGER_PLAIN;
}

/* Returns the driver's result. Memory that has no room on the GPU becomes managed memory, if it
 * may. */
static CUresult allocate_explicitly(struct device *device, CUdeviceptr *dptr,
                                    struct ledger_entry *entry) {
    CUresult result = explicit_allocate(device, entry);
    if (result == CUDA_SUCCESS)
        *dptr = entry->key;
    if (result == CUDA_ERROR_OUT_OF_MEMORY && device_mixes(device)) {
        device_mix(device);
        entry->kind = LEDGER_CONVERTED;
    }
    return result;
}

static CUresult allocate(struct device *device, CUdeviceptr *dptr, struct ledger_entry *entry) {
    CUresult result;
    if (entry->kind == LEDGER_EXPLICIT) {
        result = allocate_explicitly(device, dptr, entry);
        if (entry->kind == LEDGER_EXPLICIT)
            return result;
    }
    switch (entry->kind) {
    case LEDGER_CONVERTED:
        result = real.cuMemAllocManaged(dptr, entry->bytes, CU_MEM_ATTACH_GLOBAL);
        break;
    default: result = real.cuMemAlloc_v2(dptr, entry->bytes); break;
    }
    if (result == CUDA_SUCCESS)
        entry->key = *dptr;
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    struct device *device = device_here();
    if (!device || !dptr || !bytesize)
        return real.cuMemAlloc_v2(dptr, bytesize); /* the driver knows what is wrong with it */
    struct ledger_entry entry = {
        .bytes = bytesize, .kind = kind_on(device), .owner = context_here()->id};
    CUresult result = allocation_reserve_movable(device, bytesize, &entry.kind);
    if (result != CUDA_SUCCESS)
        return result;
    result = allocate(device, dptr, &entry);
    return allocation_record(&allocations.memory, device, entry, result);
}

/* Movable memory has no pitched allocation, so the pitch is computed as the driver would. */
static CUresult allocate_pitch(CUdeviceptr *dptr, size_t *pitch, size_t width, size_t height,
                               unsigned element_bytes) {
    size_t row, bytes;
    if (!dptr || !pitch || !width || !height ||
        (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_add_overflow(width, PITCH_ALIGNMENT - 1, &row))
        return CUDA_ERROR_INVALID_VALUE;
    row -= row % PITCH_ALIGNMENT;
    if (__builtin_mul_overflow(row, height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = cuMemAlloc_v2(dptr, bytes);
    if (result == CUDA_SUCCESS)
        *pitch = row;
    return result;
}

static CUresult count_pitch(struct device *device, CUdeviceptr *dptr, size_t *pitch, size_t width,
                            size_t height, unsigned element_bytes) {
    /* The size is known only afterwards. It is counted then, and the memory freed if it was too
     * much. */
    CUresult result = real.cuMemAllocPitch_v2(dptr, pitch, width, height, element_bytes);
    if (result != CUDA_SUCCESS)
        return result;
    struct ledger_entry entry = {
        .key = *dptr, .bytes = *pitch * height, .kind = LEDGER_PLAIN, .owner = context_here()->id};
    result = allocation_reserve(device, entry.bytes, entry.kind);
    if (result == CUDA_SUCCESS)
        return allocation_record(&allocations.memory, device, entry, result);
    real.cuMemFree_v2(*dptr);
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
    struct device *device = device_here();
    if (!device)
        return real.cuMemAllocPitch_v2(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
    if (kind_on(device) != LEDGER_PLAIN)
        return allocate_pitch(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
    return count_pitch(device, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    struct device *device = device_here();
    if (!device)
        return real.cuMemAllocManaged(dptr, bytesize, flags);
    CUresult result = allocation_reserve(device, bytesize, LEDGER_MANAGED);
    if (result != CUDA_SUCCESS)
        return result;
    result = real.cuMemAllocManaged(dptr, bytesize, flags);
    struct ledger_entry entry = {
        .bytes = bytesize, .kind = LEDGER_MANAGED, .owner = context_here()->id};
    if (result == CUDA_SUCCESS)
        entry.key = *dptr;
    return allocation_record(&allocations.memory, device, entry, result);
}

/* Memory of a pool belongs to no context, but there has to be one. */
static CUresult release(CUdeviceptr dptr, const struct ledger_entry *entry) {
    if (!entry || !ledger_is_explicit(entry->kind) || (entry->pool && !context_here()))
        return real.cuMemFree_v2(dptr);
    struct device *device = device_known(entry->device);
    return entry->pool ? pooled_free_now(device, entry) : explicit_free(device, entry);
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
    driver_need();
    struct ledger_entry *taken = ledger_take(&allocations.memory, dptr);
    return allocation_freed(&allocations.memory, taken, release(dptr, taken));
}
