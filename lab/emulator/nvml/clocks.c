/* Clocks and performance states: full speed with work, a fraction of it without. */
#include "utilization.h"

/* A board without work turns its clocks down to about a fifth. */
enum { IDLE_DIVISOR = 5 };

/* The two performance states of the model: full speed, and idle. */
#define FULL_STATE NVML_PSTATE_0
#define IDLE_STATE NVML_PSTATE_8

static unsigned int full_mhz(const struct look *look, nvmlClockType_t type) {
    const struct gpu_profile *profile = &look->gpu->profile;
    return (unsigned int)(type == NVML_CLOCK_MEM ? profile->memory_clock_khz : profile->clock_khz) /
           1000;
}

static unsigned int current_mhz(const struct look *look, nvmlClockType_t type) {
    return utilization(look) ? full_mhz(look, type) : full_mhz(look, type) / IDLE_DIVISOR;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz) {
    LOOK_AT_GPU(device, mhz && type < NVML_CLOCK_COUNT);
    *mhz = current_mhz(&look, type);
    return NVML_SUCCESS;
}

static nvmlReturn_t give_full(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz) {
    LOOK_AT_GPU(device, mhz && type < NVML_CLOCK_COUNT);
    *mhz = full_mhz(&look, type);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                       unsigned int *mhz) {
    return give_full(device, type, mhz);
}

nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                            unsigned int *mhz) {
    return give_full(device, type, mhz);
}

nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                                   unsigned int *mhz) {
    return give_full(device, type, mhz);
}

nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t type,
                                                unsigned int *mhz) {
    return give_full(device, type, mhz);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                                unsigned int *mhz) {
    LOOK_AT_GPU(device, mhz && type < NVML_CLOCK_COUNT && id < NVML_CLOCK_ID_COUNT);
    *mhz = id == NVML_CLOCK_ID_CURRENT ? current_mhz(&look, type) : full_mhz(&look, type);
    return NVML_SUCCESS;
}

/* Two steps, fastest first. */
static nvmlReturn_t give_steps(unsigned int full, unsigned int *count, unsigned int *mhz) {
    unsigned int room = *count;
    *count = 2;
    if (room < 2 || !mhz)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    mhz[0] = full;
    mhz[1] = full / IDLE_DIVISOR;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int *count,
                                                unsigned int *mhz) {
    LOOK_AT_GPU(device, count);
    return give_steps(full_mhz(&look, NVML_CLOCK_MEM), count, mhz);
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memory_mhz,
                                                  unsigned int *count, unsigned int *mhz) {
    LOOK_AT_GPU(device, count);
    unsigned int full = full_mhz(&look, NVML_CLOCK_MEM);
    if (memory_mhz != full && memory_mhz != full / IDLE_DIVISOR)
        return NVML_ERROR_NOT_FOUND;
    return give_steps(full_mhz(&look, NVML_CLOCK_GRAPHICS), count, mhz);
}

nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, nvmlClockType_t type,
                                              nvmlPstates_t state, unsigned int *least,
                                              unsigned int *most) {
    LOOK_AT_GPU(device, least && most && type < NVML_CLOCK_COUNT);
    if (state != FULL_STATE && state != IDLE_STATE)
        return NVML_ERROR_NOT_SUPPORTED;
    unsigned int full = full_mhz(&look, type);
    *least = *most = state == FULL_STATE ? full : full / IDLE_DIVISOR;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device, nvmlPstates_t *states,
                                                     unsigned int bytes) {
    LOOK_AT_GPU(device, states);
    unsigned int room = bytes / (unsigned int)sizeof *states;
    if (room < 2)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < room; i++)
        states[i] = NVML_PSTATE_UNKNOWN;
    states[0] = FULL_STATE;
    states[1] = IDLE_STATE;
    return NVML_SUCCESS;
}

ANSWER(nvmlDeviceGetPerformanceState, nvmlPstates_t, utilization(&look) ? FULL_STATE : IDLE_STATE);
ANSWER(nvmlDeviceGetPowerState, nvmlPstates_t, utilization(&look) ? FULL_STATE : IDLE_STATE);

/* Idleness is the only reason for low clocks here. */
#define REASONS (utilization(&look) ? nvmlClocksEventReasonNone : nvmlClocksEventReasonGpuIdle)
ANSWER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, REASONS);
ANSWER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, REASONS);
ANSWER(nvmlDeviceGetSupportedClocksEventReasons, unsigned long long, nvmlClocksEventReasonGpuIdle);
ANSWER(nvmlDeviceGetSupportedClocksThrottleReasons, unsigned long long,
       nvmlClocksEventReasonGpuIdle);

REFUSE(nvmlDeviceGetAutoBoostedClocksEnabled, (now && usually), nvmlEnableState_t *now,
       nvmlEnableState_t *usually);
