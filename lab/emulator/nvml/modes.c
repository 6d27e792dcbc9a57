/* The modes of a GPU. They cannot be changed here, so each has one value. */
#include "look.h"

ANSWER(nvmlDeviceGetPersistenceMode, nvmlEnableState_t, NVML_FEATURE_ENABLED);
ANSWER(nvmlDeviceGetComputeMode, nvmlComputeMode_t, NVML_COMPUTEMODE_DEFAULT);
ANSWER(nvmlDeviceGetDisplayMode, nvmlEnableState_t, NVML_FEATURE_DISABLED);
ANSWER(nvmlDeviceGetDisplayActive, nvmlEnableState_t, NVML_FEATURE_DISABLED);
ANSWER(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t,
       NVML_GPU_VIRTUALIZATION_MODE_NONE);

/* Accounting of processes after their end: supported, and off. */
enum { ACCOUNTED_PROCESSES = 4000 };
ANSWER(nvmlDeviceGetAccountingMode, nvmlEnableState_t, NVML_FEATURE_DISABLED);
ANSWER(nvmlDeviceGetAccountingBufferSize, unsigned int, ACCOUNTED_PROCESSES);
REFUSE(nvmlDeviceGetAccountingPids, count, unsigned int *count, unsigned int *pids);
REFUSE(nvmlDeviceGetAccountingStats, stats, unsigned int pid, nvmlAccountingStats_t *stats);

nvmlReturn_t nvmlDeviceGetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t api,
                                         nvmlEnableState_t *restricted) {
    LOOK_AT_GPU(device, restricted && api < NVML_RESTRICTED_API_COUNT);
    *restricted = NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
}

/* Time lost to limits of power or heat: none. */
nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy,
                                          nvmlViolationTime_t *time) {
    LOOK_AT_GPU(device, time && policy < NVML_PERF_POLICY_COUNT);
    *time = (nvmlViolationTime_t){.referenceTime = look.now / 1000};
    return NVML_SUCCESS;
}

/* Features of Windows, of older boards, and of firmware that does not exist. */
REFUSE(nvmlDeviceGetDriverModel, now || later, nvmlDriverModel_t *now, nvmlDriverModel_t *later);
REFUSE(nvmlDeviceGetDriverModel_v2, now || later, nvmlDriverModel_t *now, nvmlDriverModel_t *later);
REFUSE(nvmlDeviceGetGpuOperationMode, (now && later), nvmlGpuOperationMode_t *now,
       nvmlGpuOperationMode_t *later);
REFUSE(nvmlDeviceGetBridgeChipInfo, bridges, nvmlBridgeChipHierarchy_t *bridges);
REFUSE(nvmlDeviceGetGspFirmwareVersion, version, char *version);
REFUSE(nvmlDeviceGetGspFirmwareMode, (now && usually), unsigned int *now, unsigned int *usually);
