/* Names and numbers of a GPU: its identity and its parts. */
#include "identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "look.h"
#include "text.h"

static int digit(char c) {
    const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c | 0x20) : NULL;
    return found ? (int)(found - digits) : -1;
}

bool uuid_bytes(const struct gpu_profile *profile,
                unsigned char bytes[NVML_DEVICE_UUID_BINARY_LEN]) {
    const char *text = profile->uuid;
    if (strncmp(text, "GPU-", 4) != 0)
        return false;
    text += 4;
    for (int i = 0; i < NVML_DEVICE_UUID_BINARY_LEN; i++) {
        while (*text == '-')
            text++;
        int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
        if (low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
        text += 2;
    }
    return *text == '\0';
}

void serial_number(const struct gpu_profile *profile, char serial[SERIAL_BYTES]) {
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *c = profile->uuid; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    snprintf(serial, SERIAL_BYTES, "%013" PRIu64, hash % UINT64_C(10000000000000));
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
    LOOK_AT_GPU(device, name);
    return give_text(name, length, look.gpu->profile.name);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    LOOK_AT_GPU(device, uuid);
    return give_text(uuid, length, look.gpu->profile.uuid);
}

nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length) {
    LOOK_AT_GPU(device, serial);
    char own[SERIAL_BYTES];
    serial_number(&look.gpu->profile, own);
    return give_text(serial, length, own);
}

/* Real boards have a part number and firmware versions. These have the form, but no meaning. */
nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char *number, unsigned int length) {
    LOOK_AT_GPU(device, number);
    return give_text(number, length, "900-00000-0000-000");
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length) {
    LOOK_AT_GPU(device, version);
    return give_text(version, length, "00.00.00.00.00");
}

nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char *version,
                                              unsigned int length) {
    LOOK_AT_GPU(device, version);
    return give_text(version, length, "0000.0000.00.00");
}

static nvmlBrandType_t brand(const char *name) {
    if (strncmp(name, "Tesla", 5) == 0)
        return NVML_BRAND_TESLA;
    if (strstr(name, "GeForce"))
        return strstr(name, "RTX") ? NVML_BRAND_GEFORCE_RTX : NVML_BRAND_GEFORCE;
    return NVML_BRAND_NVIDIA;
}

static nvmlDeviceArchitecture_t architecture(const struct gpu_profile *profile) {
    switch (profile->compute_major) {
    case 3: return NVML_DEVICE_ARCH_KEPLER;
    case 5: return NVML_DEVICE_ARCH_MAXWELL;
    case 6: return NVML_DEVICE_ARCH_PASCAL;
    case 7: return profile->compute_minor < 5 ? NVML_DEVICE_ARCH_VOLTA : NVML_DEVICE_ARCH_TURING;
    case 8: return profile->compute_minor < 9 ? NVML_DEVICE_ARCH_AMPERE : NVML_DEVICE_ARCH_ADA;
    case 9: return NVML_DEVICE_ARCH_HOPPER;
    case 10:
    case 11:
    case 12: return NVML_DEVICE_ARCH_BLACKWELL;
    default: return NVML_DEVICE_ARCH_UNKNOWN;
    }
}

static uint64_t cores(const struct gpu_profile *profile) {
    return profile->multiprocessors * profile->cores_per_multiprocessor;
}

ANSWER(nvmlDeviceGetBrand, nvmlBrandType_t, brand(look.gpu->profile.name));
ANSWER(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t, architecture(&look.gpu->profile));
ANSWER(nvmlDeviceGetMemoryBusWidth, unsigned int, look.gpu->profile.memory_bus_bits);
ANSWER(nvmlDeviceGetNumGpuCores, unsigned int, cores(&look.gpu->profile));

/* One GPU per board, so the board is named after the bus. */
ANSWER(nvmlDeviceGetBoardId, unsigned int, look.gpu->profile.pci_bus << 8);
ANSWER(nvmlDeviceGetMultiGpuBoard, unsigned int, 0);

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    LOOK_AT_GPU(device, major && minor);
    *major = (int)look.gpu->profile.compute_major;
    *minor = (int)look.gpu->profile.compute_minor;
    return NVML_SUCCESS;
}
