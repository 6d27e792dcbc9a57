/* Topology: every GPU is one hop over the host from every other, and all CPUs are near. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "look.h"

enum { LONG_BITS = sizeof(unsigned long) * CHAR_BIT };

static bool is_level(nvmlGpuTopologyLevel_t level) {
    return level <= NVML_TOPOLOGY_SYSTEM && level % 10 == 0;
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t *level) {
    LOOK_AT_GPU(one, level);
    uint32_t index = index_of(&look, other);
    if (index == NO_INDEX)
        return NVML_ERROR_INVALID_ARGUMENT;
    *level = index == look.index ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_NODE;
    return NVML_SUCCESS;
}

/* Returns all GPUs but one; a count of zero only queries their number. */
static void give_handles(const struct look *look, uint32_t but, unsigned int *count,
                         nvmlDevice_t *devices) {
    unsigned int room = *count, found = 0;
    for (uint32_t i = 0; i < look->node->profile.gpu_count; i++) {
        if (i == but)
            continue;
        if (found < room)
            devices[found] = handle_of(i);
        found++;
    }
    *count = room && room < found ? room : found;
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
                                              unsigned int *count, nvmlDevice_t *devices) {
    LOOK_AT_GPU(device, count && (devices || !*count) && is_level(level));
    if (level == NVML_TOPOLOGY_NODE)
        give_handles(&look, look.index, count, devices);
    else
        *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int cpu, unsigned int *count,
                                         nvmlDevice_t *devices) {
    (void)cpu;
    LOOK_AT_NODE(count && (devices || !*count));
    give_handles(&look, NO_INDEX, count, devices);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t one, nvmlDevice_t other, int *same) {
    LOOK_AT_GPU(one, same);
    uint32_t index = index_of(&look, other);
    if (index == NO_INDEX)
        return NVML_ERROR_INVALID_ARGUMENT;
    *same = index == look.index;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t capability, nvmlGpuP2PStatus_t *status) {
    LOOK_AT_GPU(one, status && capability < NVML_P2P_CAPS_INDEX_UNKNOWN);
    if (index_of(&look, other) == NO_INDEX)
        return NVML_ERROR_INVALID_ARGUMENT;
    bool needs_nvlink =
        capability == NVML_P2P_CAPS_INDEX_NVLINK || capability == NVML_P2P_CAPS_INDEX_ATOMICS;
    *status = needs_nvlink ? NVML_P2P_STATUS_NOT_SUPPORTED : NVML_P2P_STATUS_OK;
    return NVML_SUCCESS;
}

static void set_first_bits(unsigned long *set, unsigned int words, unsigned long bits) {
    memset(set, 0, words * sizeof *set);
    for (unsigned long i = 0; i < bits && i < (unsigned long)words * LONG_BITS; i++)
        set[i / LONG_BITS] |= 1ul << i % LONG_BITS;
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int words, unsigned long *set) {
    LOOK_AT_GPU(device, words && set);
    set_first_bits(set, words, (unsigned long)sysconf(_SC_NPROCESSORS_CONF));
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int words,
                                                 unsigned long *set, nvmlAffinityScope_t scope) {
    return nvmlDeviceGetCpuAffinity(device, scope <= NVML_AFFINITY_SCOPE_SOCKET ? words : 0, set);
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int words,
                                         unsigned long *set, nvmlAffinityScope_t scope) {
    LOOK_AT_GPU(device, words && set && scope <= NVML_AFFINITY_SCOPE_SOCKET);
    set_first_bits(set, words, 1);
    return NVML_SUCCESS;
}

ANSWER(nvmlDeviceGetNumaNodeId, unsigned int, 0);
