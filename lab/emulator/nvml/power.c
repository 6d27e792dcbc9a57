/* The power that a GPU draws, and its limit. */
#include "power.h"

#include "utilization.h"

unsigned int power_mw(const struct gpu *gpu, unsigned int percent) {
    return (unsigned int)between(gpu->profile.power_idle_mw, gpu->profile.power_limit_mw, percent);
}

/* mW times ns overflows within hours; mW times µs does not within a lifetime. */
static unsigned long long milliwatts_for(uint64_t milliwatts, uint64_t ns) {
    return milliwatts * (ns / 1000) / 1000000;
}

unsigned long long energy_mj(const struct look *look) {
    const struct gpu_profile *profile = &look->gpu->profile;
    uint64_t more = between(profile->power_idle_mw, profile->power_limit_mw, 100);
    more -= profile->power_idle_mw;
    return milliwatts_for(profile->power_idle_mw, look->now) +
           milliwatts_for(more, look->gpu->busy_total_ns);
}

ANSWER(nvmlDeviceGetPowerUsage, unsigned int, power_mw(look.gpu, utilization(&look)));
ANSWER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, energy_mj(&look));

/* The limit cannot be set, so there is only one. */
ANSWER(nvmlDeviceGetPowerManagementLimit, unsigned int, look.gpu->profile.power_limit_mw);
ANSWER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, look.gpu->profile.power_limit_mw);
ANSWER(nvmlDeviceGetEnforcedPowerLimit, unsigned int, look.gpu->profile.power_limit_mw);
ANSWER(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t, NVML_FEATURE_ENABLED);
ANSWER(nvmlDeviceGetPowerSource, nvmlPowerSource_t, NVML_POWER_SOURCE_AC);

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *least,
                                                          unsigned int *most) {
    LOOK_AT_GPU(device, least && most);
    *least = *most = (unsigned int)look.gpu->profile.power_limit_mw;
    return NVML_SUCCESS;
}
