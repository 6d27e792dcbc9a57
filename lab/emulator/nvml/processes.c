/* The processes on a GPU, and their memory. */
#include "look.h"

struct user {
    unsigned int pid;
    unsigned long long bytes;
};

struct users {
    unsigned int count;
    struct user list[MAX_PROCESSES];
};

/* Contexts with their code, and plain memory. Managed memory is left out: it belongs to no object
 * of the process that could be added up (published driver: gpuFindClientInfoWithPidIterator). */
static unsigned long long bytes_of(const struct account *account) {
    return account->plain_bytes + account->context_bytes;
}

/* A process is on a GPU while it has a context there, as with the real driver. */
static void list_users(const struct look *look, struct users *users) {
    users->count = 0;
    for (uint32_t i = 0; i < look->node->slot_limit; i++) {
        const struct slot *slot = &look->node->slots[i];
        const struct account *account = &slot->accounts[look->index];
        if (slot->in_use && account->contexts)
            users->list[users->count++] = (struct user){(unsigned int)slot->pid, bytes_of(account)};
    }
}

/* Sets the count to the number of users. Returns whether there is room for them. */
static bool fits(const struct users *users, unsigned int *count) {
    unsigned int room = *count;
    *count = users->count;
    return users->count <= room;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                  nvmlProcessInfo_v1_t *infos) {
    LOOK_AT_GPU(device, count && (infos || !*count));
    struct users users;
    list_users(&look, &users);
    if (!fits(&users, count))
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < users.count; i++)
        infos[i] = (nvmlProcessInfo_v1_t){users.list[i].pid, users.list[i].bytes};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_t *infos) {
    LOOK_AT_GPU(device, count && (infos || !*count));
    struct users users;
    list_users(&look, &users);
    if (!fits(&users, count))
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < users.count; i++)
        infos[i] = (nvmlProcessInfo_t){.pid = users.list[i].pid,
                                       .usedGpuMemory = users.list[i].bytes,
                                       .gpuInstanceId = NVML_GPU_INSTANCE_ID_ANY,
                                       .computeInstanceId = NVML_COMPUTE_INSTANCE_ID_ANY};
    return NVML_SUCCESS;
}

static void list_by_mode(const struct look *look, unsigned int mode, struct users *users) {
    if (mode == NVML_PROCESS_MODE_COMPUTE || mode == NVML_PROCESS_MODE_ALL)
        list_users(look, users);
    else
        users->count = 0;
}

nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
                                                   nvmlProcessDetailList_t *list) {
    LOOK_AT_GPU(device, list && (list->procArray || !list->numProcArrayEntries));
    if (list->version != nvmlProcessDetailList_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (list->mode >= NVML_PROCESS_MODE_MAX)
        return NVML_ERROR_INVALID_ARGUMENT;
    struct users users;
    list_by_mode(&look, list->mode, &users);
    if (!fits(&users, &list->numProcArrayEntries))
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < users.count; i++)
        list->procArray[i] =
            (nvmlProcessDetail_v1_t){.pid = users.list[i].pid,
                                     .usedGpuMemory = users.list[i].bytes,
                                     .gpuInstanceId = NVML_GPU_INSTANCE_ID_ANY,
                                     .computeInstanceId = NVML_COMPUTE_INSTANCE_ID_ANY};
    return NVML_SUCCESS;
}

/* There are no graphics processes, and none that use MPS. */
static nvmlReturn_t nobody(nvmlDevice_t device, unsigned int *count) {
    LOOK_AT_GPU(device, count);
    *count = 0;
    return NVML_SUCCESS;
}

#define NOBODY(function, type)                                                                     \
    nvmlReturn_t function(nvmlDevice_t device, unsigned int *count, type *infos) {                 \
        (void)infos;                                                                               \
        return nobody(device, count);                                                              \
    }                                                                                              \
    struct look

NOBODY(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t);
NOBODY(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t);
NOBODY(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t);
NOBODY(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t);
NOBODY(nvmlDeviceGetEncoderSessions, nvmlEncoderSessionInfo_t);
NOBODY(nvmlDeviceGetFBCSessions, nvmlFBCSessionInfo_t);
