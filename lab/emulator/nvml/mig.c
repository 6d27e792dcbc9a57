/* MIG: boards of the A100's class support it, but none is divided. Other boards do not. */
#include "look.h"

static bool could_be_sliced(const struct gpu_profile *profile) {
    return profile->compute_major >= 8 && profile->compute_minor == 0;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current,
                                  unsigned int *pending) {
    LOOK_AT_GPU(device, current && pending);
    if (!could_be_sliced(&look.gpu->profile))
        return NVML_ERROR_NOT_SUPPORTED;
    *current = *pending = NVML_DEVICE_MIG_DISABLE;
    return NVML_SUCCESS;
}

ANSWER(nvmlDeviceIsMigDeviceHandle, unsigned int, 0);
ANSWER(nvmlDeviceGetMaxMigDeviceCount, unsigned int, 0);
REFUSE(nvmlDeviceGetMigDeviceHandleByIndex, slice, unsigned int index, nvmlDevice_t *slice);
REFUSE(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, whole, nvmlDevice_t *whole);
REFUSE(nvmlDeviceGetGpuInstanceId, id, unsigned int *id);
REFUSE(nvmlDeviceGetComputeInstanceId, id, unsigned int *id);
REFUSE(nvmlDeviceGetAttributes_v2, attributes, nvmlDeviceAttributes_t *attributes);
