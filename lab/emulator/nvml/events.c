/* Sets of events. The only event of an emulated GPU is an XID (faults.h). */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "look.h"

enum { PAUSE_NS = 5000000 };

/* NVML leaves the type open. */
struct nvmlEventSet_st {
    unsigned long long types[MAX_GPUS];
    uint64_t seen[MAX_GPUS]; /* number of XIDs reported */
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
    set->types[look.index] |= types;
    set->seen[look.index] = look.gpu->xids;
    return NVML_SUCCESS;
}

/* Of several XIDs that came at once, the last one is reported. */
static nvmlReturn_t take_event(nvmlEventSet_t set, bool arguments_are_good, nvmlEventData_t *data) {
    LOOK_AT_NODE(arguments_are_good);
    for (uint32_t i = 0; i < look.node->profile.gpu_count; i++) {
        const struct gpu *gpu = &look.node->gpus[i];
        if (!(set->types[i] & nvmlEventTypeXidCriticalError) || set->seen[i] == gpu->xids)
            continue;
        set->seen[i] = gpu->xids;
        *data = (nvmlEventData_t){.device = handle_of(i),
                                  .eventType = nvmlEventTypeXidCriticalError,
                                  .eventData = gpu->last_xid,
                                  .gpuInstanceId = UINT32_MAX,
                                  .computeInstanceId = UINT32_MAX};
        return NVML_SUCCESS;
    }
    return NVML_ERROR_TIMEOUT;
}

static uint64_t real_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Sleeps without a lock. The caller's timeout is in real time at any speed of the node. A signal
 * ends the wait, as the header says. */
static nvmlReturn_t wait_for_event(nvmlEventSet_t set, bool arguments_are_good,
                                   nvmlEventData_t *data, unsigned int timeout_ms) {
    uint64_t end = real_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        nvmlReturn_t result = take_event(set, arguments_are_good, data);
        uint64_t now = real_ns();
        if (result != NVML_ERROR_TIMEOUT || now >= end)
            return result;
        uint64_t left = end - now;
        struct timespec pause = {0, left < PAUSE_NS ? (long)left : PAUSE_NS};
        if (nanosleep(&pause, NULL) < 0)
            return NVML_ERROR_TIMEOUT;
    }
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
                                 unsigned int timeout_ms) {
    return wait_for_event(set, set && data, data, timeout_ms);
}

nvmlReturn_t nvmlEventSetWait_v3(nvmlEventSet_t set, nvmlEventSetWait_v3_t *parameters) {
    nvmlEventData_t data;
    unsigned int timeout_ms = parameters ? parameters->timeoutMs : 0;
    nvmlReturn_t result = wait_for_event(set, set && parameters, &data, timeout_ms);
    if (result != NVML_SUCCESS)
        return result;
    memset(parameters, 0, sizeof *parameters);
    parameters->timeoutMs = timeout_ms;
    parameters->dataType = NVML_EVENT_DATA_TYPE_NVML_EVENT;
    nvmlDeviceGetUUID(data.device, parameters->uuid, sizeof parameters->uuid);
    parameters->eventType = data.eventType;
    parameters->eventData = data.eventData;
    parameters->gpuInstanceId = data.gpuInstanceId;
    parameters->computeInstanceId = data.computeInstanceId;
    return NVML_SUCCESS;
}
