/* The recent past of a GPU, one sample per tenth of an emulated second, oldest first. */
#include "power.h"
#include "utilization.h"

static bool is_sampled(nvmlSamplingType_t type) {
    return type <= NVML_DEC_UTILIZATION_SAMPLES || type == NVML_JPG_UTILIZATION_SAMPLES ||
           type == NVML_OFA_UTILIZATION_SAMPLES;
}

static unsigned int value(const struct look *look, nvmlSamplingType_t type, uint32_t age) {
    unsigned int percent = busy_percent_gpu(look->gpu, look->now, age);
    switch (type) {
    case NVML_TOTAL_POWER_SAMPLES: return power_mw(look->gpu, percent);
    case NVML_GPU_UTILIZATION_SAMPLES:
    case NVML_MEMORY_UTILIZATION_SAMPLES: return percent;
    default: return 0;
    }
}

/* The age of the oldest sample that is newer than `seen`; below LATENESS if there is none. */
static uint32_t oldest(const struct look *look, unsigned long long seen) {
    uint64_t buckets = look->now / BUSY_BUCKET_NS;
    uint32_t age = buckets < BUSY_BUCKETS - 1 ? (uint32_t)buckets : BUSY_BUCKETS - 1;
    while (age >= LATENESS && sample_time(look, age) <= seen)
        age--;
    return age;
}

nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
                                  unsigned long long seen, nvmlValueType_t *value_type,
                                  unsigned int *count, nvmlSample_t *samples) {
    bool good = value_type && count && (!samples || *count) && type < NVML_SAMPLINGTYPE_COUNT;
    LOOK_AT_GPU(device, good);
    if (!is_sampled(type))
        return NVML_ERROR_NOT_SUPPORTED;
    uint32_t age = oldest(&look, seen);
    if (age < LATENESS)
        return NVML_ERROR_NOT_FOUND;
    *value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
    unsigned int available = age - LATENESS + 1;
    if (!samples || *count > available)
        *count = available;
    for (unsigned int i = 0; samples && i < *count; i++) {
        samples[i].timeStamp = sample_time(&look, age - i);
        samples[i].sampleValue.uiVal = value(&look, type, age - i);
    }
    return NVML_SUCCESS;
}
