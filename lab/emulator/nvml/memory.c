/* The memory of a GPU, and the used part of it. It agrees with cuMemGetInfo, which does not include
 * the part that the driver keeps for itself. */
#include "look.h"
#include "model/residency.h"

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    LOOK_AT_GPU(device, memory);
    memory->total = look.gpu->profile.memory_bytes;
    memory->free = gpu_free_bytes(look.gpu);
    memory->used = memory->total - memory->free;
    return NVML_SUCCESS;
}

/* Version 2 reports the driver's share separately from the used memory. */
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    LOOK_AT_GPU(device, memory);
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const struct gpu_profile *profile = &look.gpu->profile;
    memory->total = profile->memory_bytes;
    memory->reserved = profile->memory_bytes - profile->usable_bytes;
    memory->free = gpu_free_bytes(look.gpu);
    memory->used = profile->usable_bytes - memory->free;
    return NVML_SUCCESS;
}

/* The window through which the host sees device memory. Nothing in the model goes through it. */
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory) {
    LOOK_AT_GPU(device, memory);
    memory->bar1Total = UINT64_C(256) << 20;
    memory->bar1Used = UINT64_C(2) << 20;
    memory->bar1Free = memory->bar1Total - memory->bar1Used;
    return NVML_SUCCESS;
}

/* No confidential computing: nothing is protected. */
nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device,
                                                 nvmlConfComputeMemSizeInfo_t *memory) {
    LOOK_AT_GPU(device, memory);
    memory->protectedMemSizeKib = 0;
    memory->unprotectedMemSizeKib = look.gpu->profile.memory_bytes >> 10;
    return NVML_SUCCESS;
}
