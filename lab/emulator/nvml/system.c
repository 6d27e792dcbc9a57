/* The NVML queries about the machine as a whole. */
#include <cuda.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "driver_version.h"
#include "look.h"
#include "text.h"

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    LOOK_AT_NODE(version);
    return give_text(version, length, EMULATED_DRIVER_VERSION);
}

nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *info, unsigned int length) {
    LOOK_AT_NODE(info);
    if (info->version != nvmlSystemDriverBranchInfo_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    unsigned int room = length < sizeof info->branch ? length : sizeof info->branch;
    return give_text(info->branch, room, EMULATED_DRIVER_BRANCH);
}

/* NVML answers this query and the next without having been initialised. */
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    return give_text(version, length, NVML_API_VERSION_STR "." EMULATED_DRIVER_VERSION);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    *version = CUDA_VERSION;
    return NVML_SUCCESS;
}

/* The first word of the command line; kernel threads and zombies have none. */
nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length) {
    LOOK_AT_NODE(name && length);
    char path[40];
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NVML_ERROR_NOT_FOUND;
    ssize_t got = read(file, name, length - 1);
    close(file);
    if (got < 0)
        return NVML_ERROR_NOT_FOUND;
    name[got] = '\0';
    return NVML_SUCCESS;
}

/* There are no S-class units, no host interface cards and no GPUs that were set aside. */
static nvmlReturn_t none(unsigned int *count) {
    LOOK_AT_NODE(count);
    *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlUnitGetCount(unsigned int *count) {
    return none(count);
}

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int *count) {
    return none(count);
}

nvmlReturn_t nvmlSystemGetHicVersion(unsigned int *count, nvmlHwbcEntry_t *entries) {
    (void)entries;
    return none(count);
}
