/* Error correction: on, with no errors ever. */
#include <string.h>

#include "look.h"

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current,
                                  nvmlEnableState_t *pending) {
    LOOK_AT_GPU(device, current && pending);
    *current = *pending = NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
}

ANSWER(nvmlDeviceGetDefaultEccMode, nvmlEnableState_t, NVML_FEATURE_ENABLED);

static bool are_counted(nvmlMemoryErrorType_t error, nvmlEccCounterType_t counter) {
    return error < NVML_MEMORY_ERROR_TYPE_COUNT && counter < NVML_ECC_COUNTER_TYPE_COUNT;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                         nvmlEccCounterType_t counter, unsigned long long *count) {
    LOOK_AT_GPU(device, count && are_counted(error, counter));
    *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                            nvmlEccCounterType_t counter,
                                            nvmlEccErrorCounts_t *counts) {
    LOOK_AT_GPU(device, counts && are_counted(error, counter));
    memset(counts, 0, sizeof *counts);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                             nvmlEccCounterType_t counter,
                                             nvmlMemoryLocation_t location,
                                             unsigned long long *count) {
    bool good = count && are_counted(error, counter) && location < NVML_MEMORY_LOCATION_COUNT;
    LOOK_AT_GPU(device, good);
    *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                       unsigned int *count, unsigned long long *addresses) {
    (void)addresses;
    LOOK_AT_GPU(device, count && cause < NVML_PAGE_RETIREMENT_CAUSE_COUNT);
    *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                          unsigned int *count, unsigned long long *addresses,
                                          unsigned long long *times) {
    (void)times;
    return nvmlDeviceGetRetiredPages(device, cause, count, addresses);
}

ANSWER(nvmlDeviceGetRetiredPagesPendingStatus, nvmlEnableState_t, NVML_FEATURE_DISABLED);

/* Boards from Ampere on replace bad rows instead of retiring pages. */
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *corrected,
                                       unsigned int *uncorrected, unsigned int *pending,
                                       unsigned int *failed) {
    LOOK_AT_GPU(device, corrected && uncorrected && pending && failed);
    if (look.gpu->profile.compute_major < 8)
        return NVML_ERROR_NOT_SUPPORTED;
    *corrected = *uncorrected = *pending = *failed = 0;
    return NVML_SUCCESS;
}
