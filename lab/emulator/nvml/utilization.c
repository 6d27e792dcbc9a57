/* The utilisation of a GPU, as NVML reports it. */
#include "utilization.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "model/node.h"

/* The sampling period that monitors see. */
enum { PERIOD_US = 100000 };

static uint64_t unix_minus_monotonic_ns;

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void compare_clocks(void) {
    unix_minus_monotonic_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

/* The clocks are compared once: each comparison gives a slightly different result, and a sample
 * that moves by a microsecond would count as new. */
uint64_t sample_time(const struct look *look, uint32_t age) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compare_clocks);
    uint64_t bucket = look->now / BUSY_BUCKET_NS;
    uint64_t end = (bucket >= age ? bucket - age + 1 : 0) * BUSY_BUCKET_NS;
    return (node_real_time(look->node, end) + unix_minus_monotonic_ns) / 1000;
}

/* A kernel's cost in the model is the memory it touches, so memory is as busy as the GPU. */
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
    LOOK_AT_GPU(device, rates);
    rates->gpu = rates->memory = utilization(&look);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device,
                                             nvmlGpuDynamicPstatesInfo_t *info) {
    LOOK_AT_GPU(device, info);
    memset(info, 0, sizeof *info);
    for (int domain = NVML_GPU_UTILIZATION_DOMAIN_GPU; domain <= NVML_GPU_UTILIZATION_DOMAIN_FB;
         domain++) {
        info->utilization[domain].bIsPresent = 1;
        info->utilization[domain].percentage = utilization(&look);
    }
    return NVML_SUCCESS;
}

/* The model has no video engines: they are there and idle. */
static nvmlReturn_t idle(nvmlDevice_t device, unsigned int *percent, unsigned int *period) {
    LOOK_AT_GPU(device, percent && period);
    *percent = 0;
    *period = PERIOD_US;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *percent,
                                             unsigned int *period) {
    return idle(device, percent, period);
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *percent,
                                             unsigned int *period) {
    return idle(device, percent, period);
}

nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned int *percent,
                                         unsigned int *period) {
    return idle(device, percent, period);
}

nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned int *percent,
                                         unsigned int *period) {
    return idle(device, percent, period);
}

nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned int *sessions,
                                       unsigned int *frames_per_second, unsigned int *latency) {
    LOOK_AT_GPU(device, sessions && frames_per_second && latency);
    *sessions = *frames_per_second = *latency = 0;
    return NVML_SUCCESS;
}
