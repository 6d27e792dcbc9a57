/* The temperature of a GPU: between the profile's idle and busy temperatures, by utilisation. There
 * are no fans; boards for servers are cooled by the server. */
#include "utilization.h"

/* The °C above its usual temperature under load at which a board begins to protect itself. */
enum { ABOVE_BUSY_MAX = 15, ABOVE_BUSY_SLOWDOWN = 23, ABOVE_BUSY_SHUTDOWN = 26 };

static int temperature(const struct look *look) {
    const struct gpu_profile *profile = &look->gpu->profile;
    return (int)between(profile->temperature_idle_c, profile->temperature_busy_c,
                        utilization(look));
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                      unsigned int *out) {
    LOOK_AT_GPU(device, out && sensor == NVML_TEMPERATURE_GPU);
    *out = (unsigned int)temperature(&look);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *out) {
    LOOK_AT_GPU(device, out);
    if (out->version != nvmlTemperature_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (out->sensorType != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    out->temperature = temperature(&look);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                               nvmlTemperatureThresholds_t threshold,
                                               unsigned int *out) {
    LOOK_AT_GPU(device, out && threshold < NVML_TEMPERATURE_THRESHOLD_COUNT);
    unsigned int busy = (unsigned int)look.gpu->profile.temperature_busy_c;
    switch (threshold) {
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX: *out = busy + ABOVE_BUSY_MAX; break;
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN: *out = busy + ABOVE_BUSY_SLOWDOWN; break;
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN: *out = busy + ABOVE_BUSY_SHUTDOWN; break;
    default: return NVML_ERROR_NOT_SUPPORTED;
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t *margin) {
    LOOK_AT_GPU(device, margin);
    if (margin->version != nvmlMarginTemperature_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    int slowdown = (int)look.gpu->profile.temperature_busy_c + ABOVE_BUSY_SLOWDOWN;
    margin->marginTemperature = slowdown - temperature(&look);
    return NVML_SUCCESS;
}

ANSWER(nvmlDeviceGetNumFans, unsigned int, 0);
REFUSE(nvmlDeviceGetFanSpeed, speed, unsigned int *speed);
REFUSE(nvmlDeviceGetFanSpeed_v2, speed, unsigned int fan, unsigned int *speed);
REFUSE(nvmlDeviceGetFanSpeedRPM, speed, nvmlFanSpeedInfo_t *speed);
REFUSE(nvmlDeviceGetTargetFanSpeed, speed, unsigned int fan, unsigned int *speed);
REFUSE(nvmlDeviceGetMinMaxFanSpeed, (least && most), unsigned int *least, unsigned int *most);
REFUSE(nvmlDeviceGetFanControlPolicy_v2, policy, unsigned int fan, nvmlFanControlPolicy_t *policy);
REFUSE(nvmlDeviceGetCoolerInfo, info, nvmlCoolerInfo_t *info);
