/* What a program is told about memory: its own view, which is its limit or the whole GPU, and what
 * is left of that. Programs size their pools by it, so it takes the daemon's limits into
 * account. */
#include "explicit/answers.h"
#include "log.h"
#include "memory/allocations.h"
#include "process/config.h"
#include "process/contexts.h"
#include "process/devices.h"

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    struct device *device = device_here();
    if (!device)
        return real.cuMemGetInfo_v2(free, total);
    device_await_daemon(device);
    struct device_view view = device_view(device);
    if (total)
        *total = view.total;
    if (free)
        *free = view.free;
    return CUDA_SUCCESS;
}

/* A query is not a use: a device that is only queried is not registered with the daemon. */
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
    driver_need();
    CUresult result = real.cuDeviceTotalMem_v2(bytes, dev);
    if (result != CUDA_SUCCESS || config()->disable)
        return result;
    struct device *device = device_known(dev);
    uint64_t limit = device ? device_view(device).total : config()->limits.memory_limit;
    if (limit && limit < *bytes)
        *bytes = limit;
    return result;
}

/* Whether a pointer leads into memory that the program takes for plain device memory. */
static bool is_converted(CUdeviceptr pointer, struct ledger_entry *entry) {
    CUdeviceptr start;
    if (config()->disable ||
        real.cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer) !=
            CUDA_SUCCESS)
        return false;
    return ledger_find(&allocations.memory, start, entry) == 0 && entry->kind == LEDGER_CONVERTED;
}

/* A program that asked for device memory is told that it has device memory: libraries choose their
 * code path by this, and many know only host and device. What such memory really cannot do (CUDA
 * IPC, RDMA) is answered truthfully, by the attributes for it. Returns whether the answer differs
 * from the driver's. */
static bool answer(CUpointer_attribute attribute, const struct ledger_entry *entry, void *data) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = 0; return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)data = CU_MEMORYTYPE_DEVICE; return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = entry->device; return true;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *(void **)data = NULL; return true;
    default: return false;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    struct ledger_entry entry;
    CUresult result;
    driver_need();
    if (answers_attribute(attribute, ptr, data, &result))
        return result;
    result = real.cuPointerGetAttribute(data, attribute, ptr);
    if (result != CUDA_SUCCESS || !is_converted(ptr, &entry) || !answer(attribute, &entry, data))
        return result;
    /* Device memory has no host pointer, and the driver calls that an invalid question. */
    return attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                void **data, CUdeviceptr ptr) {
    struct ledger_entry entry;
    CUresult ignored;
    driver_need();
    CUresult result = real.cuPointerGetAttributes(numAttributes, attributes, data, ptr);
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned i = 0; i < numAttributes; i++)
        answers_attribute(attributes[i], ptr, data[i], &ignored);
    if (!is_converted(ptr, &entry))
        return result;
    for (unsigned i = 0; i < numAttributes; i++)
        answer(attributes[i], &entry, data[i]);
    return result;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    driver_need();
    if (context_here() && answers_range(dptr, pbase, psize))
        return CUDA_SUCCESS;
    return real.cuMemGetAddressRange_v2(pbase, psize, dptr);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
    struct ledger_entry entry;
    driver_need();
    CUresult result = real.cuIpcGetMemHandle(pHandle, dptr);
    if (result != CUDA_SUCCESS && (is_converted(dptr, &entry) || answers_find(dptr, &entry)))
        log_warn_once("memory that nvshare can move cannot be shared by CUDA IPC. To share "
                      "it, start the program with NVSHARE_ALLOCATION=native");
    return result;
}
