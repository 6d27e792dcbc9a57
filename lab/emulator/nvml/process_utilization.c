/* The utilisation of a GPU by each process: its mean over the samples new to the caller. */
#include "utilization.h"

/* The driver keeps about a second of samples. */
enum { KEPT = 10 };

struct share {
    unsigned int pid, percent;
};

struct shares {
    uint64_t time; /* of the newest sample, µs */
    unsigned int count;
    struct share list[MAX_PROCESSES];
};

/* The number of samples that are newer than `seen`. */
static uint32_t unseen(const struct look *look, unsigned long long seen) {
    uint32_t samples = 0;
    while (samples < KEPT && sample_time(look, LATENESS + samples) > seen)
        samples++;
    return samples;
}

static unsigned int mean(const struct look *look, const struct account *account, uint32_t samples) {
    unsigned int sum = 0;
    for (uint32_t i = 0; i < samples; i++)
        sum += busy_percent_account(account, look->now, LATENESS + i);
    return (sum + samples / 2) / samples;
}

static nvmlReturn_t list_shares(const struct look *look, unsigned long long seen,
                                struct shares *shares) {
    uint32_t samples = unseen(look, seen);
    shares->time = sample_time(look, LATENESS);
    shares->count = 0;
    for (uint32_t i = 0; samples && i < look->node->slot_limit; i++) {
        const struct slot *slot = &look->node->slots[i];
        if (!slot->in_use)
            continue;
        unsigned int percent = mean(look, &slot->accounts[look->index], samples);
        if (percent)
            shares->list[shares->count++] = (struct share){(unsigned int)slot->pid, percent};
    }
    return shares->count ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

static bool fits(const struct shares *shares, unsigned int *count, const void *buffer) {
    unsigned int room = buffer ? *count : 0;
    *count = shares->count;
    return shares->count <= room;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                             nvmlProcessUtilizationSample_t *samples,
                                             unsigned int *count, unsigned long long seen) {
    LOOK_AT_GPU(device, count);
    struct shares shares;
    nvmlReturn_t result = list_shares(&look, seen, &shares);
    if (result != NVML_SUCCESS)
        return result;
    if (!fits(&shares, count, samples))
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < shares.count; i++)
        samples[i] = (nvmlProcessUtilizationSample_t){.pid = shares.list[i].pid,
                                                      .timeStamp = shares.time,
                                                      .smUtil = shares.list[i].percent,
                                                      .memUtil = shares.list[i].percent};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
                                                   nvmlProcessesUtilizationInfo_t *info) {
    LOOK_AT_GPU(device, info);
    if (info->version != nvmlProcessesUtilizationInfo_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    struct shares shares;
    nvmlReturn_t result = list_shares(&look, info->lastSeenTimeStamp, &shares);
    if (result != NVML_SUCCESS)
        return result;
    if (!fits(&shares, &info->processSamplesCount, info->procUtilArray))
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < shares.count; i++)
        info->procUtilArray[i] =
            (nvmlProcessUtilizationInfo_v1_t){.timeStamp = shares.time,
                                              .pid = shares.list[i].pid,
                                              .smUtil = shares.list[i].percent,
                                              .memUtil = shares.list[i].percent};
    return NVML_SUCCESS;
}
