/* Sets of events. One can subscribe and wait; nothing has happened yet. */
#include <stdlib.h>
#include <time.h>

#include "look.h"

/* NVML leaves the type open. */
struct nvmlEventSet_st {
    unsigned long long types; /* on any GPU */
};

#define SUPPORTED                                                                                  \
    (nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError | nvmlEventTypePState |       \
     nvmlEventTypeXidCriticalError | nvmlEventTypeClock)

ANSWER(nvmlDeviceGetSupportedEventTypes, unsigned long long, SUPPORTED);

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
    LOOK_AT_NODE(set);
    nvmlEventSet_t created = calloc(1, sizeof *created);
    if (!created)
        return NVML_ERROR_MEMORY;
    *set = created;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    LOOK_AT_NODE(set);
    free(set);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                      nvmlEventSet_t set) {
    LOOK_AT_GPU(device, set && !(types & ~(unsigned long long)nvmlEventTypeAll));
    if (types & ~(unsigned long long)SUPPORTED)
        return NVML_ERROR_NOT_SUPPORTED;
    set->types |= types;
    return NVML_SUCCESS;
}

static nvmlReturn_t check(bool arguments_are_good) {
    LOOK_AT_NODE(arguments_are_good);
    return NVML_SUCCESS;
}

/* Sleeps with no lock held. The caller's patience is in real time, whatever the node's speed; a
 * signal ends the wait, as the header says. */
static nvmlReturn_t wait_for_nothing(bool arguments_are_good, unsigned int timeout_ms) {
    nvmlReturn_t result = check(arguments_are_good);
    if (result != NVML_SUCCESS)
        return result;
    struct timespec patience = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
    nanosleep(&patience, NULL);
    return NVML_ERROR_TIMEOUT;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
                                 unsigned int timeout_ms) {
    return wait_for_nothing(set && data, timeout_ms);
}

nvmlReturn_t nvmlEventSetWait_v3(nvmlEventSet_t set, nvmlEventSetWait_v3_t *parameters) {
    return wait_for_nothing(set && parameters, parameters ? parameters->timeoutMs : 0);
}
