/* Devices: how many, their names and numbers. Their attributes are in device_attribute.c. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pci_identity.h"
#include "../process/driver.h"

CUresult cuDeviceGetCount(int *count) {
    REQUIRE_DRIVER();
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    *count = (int)driver->visible_count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    REQUIRE_DEVICE(ordinal);
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(name && length > 0, CUDA_ERROR_INVALID_VALUE);
    snprintf(name, (size_t)length, "%s", gpu_profile(gpu_of_device(device))->name);
    return CUDA_SUCCESS;
}

/* The sixteen bytes in the text GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx. */
static void parse_uuid(const char *text, CUuuid *uuid) {
    memset(uuid, 0, sizeof *uuid);
    size_t digits = 0;
    for (const char *at = text + strlen("GPU-"); *at && digits < 32; at++) {
        if (!isxdigit((unsigned char)*at))
            continue;
        int value =
            isdigit((unsigned char)*at) ? *at - '0' : tolower((unsigned char)*at) - 'a' + 10;
        uuid->bytes[digits / 2] = (char)(uuid->bytes[digits / 2] << 4 | value);
        digits++;
    }
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(uuid, CUDA_ERROR_INVALID_VALUE);
    parse_uuid(gpu_profile(gpu_of_device(device))->uuid, uuid);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(id && length > 0, CUDA_ERROR_INVALID_VALUE);
    snprintf(id, (size_t)length, "%04x:%02x:%02x.0", EMULATED_PCI_DOMAIN,
             (unsigned)gpu_profile(gpu_of_device(device))->pci_bus, EMULATED_PCI_DEVICE);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    REQUIRE_DRIVER();
    REQUIRE(device && id, CUDA_ERROR_INVALID_VALUE);
    unsigned domain = 0, bus, slot;
    if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3 && sscanf(id, "%x:%x", &bus, &slot) != 2)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < driver->visible_count; i++) {
        if (gpu_profile(driver->visible[i])->pci_bus == bus) {
            *device = (CUdevice)i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    *bytes = gpu_profile(gpu_of_device(device))->usable_bytes;
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(major && minor, CUDA_ERROR_INVALID_VALUE);
    *major = (int)gpu_profile(gpu_of_device(device))->compute_major;
    *minor = (int)gpu_profile(gpu_of_device(device))->compute_minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(properties, CUDA_ERROR_INVALID_VALUE);
    const struct gpu_profile *profile = gpu_profile(gpu_of_device(device));
    *properties = (CUdevprop){
        .maxThreadsPerBlock = 1024,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {2147483647, 65535, 65535},
        .sharedMemPerBlock = 48 << 10,
        .totalConstantMemory = 64 << 10,
        .SIMDWidth = 32,
        .memPitch = 2147483647,
        .regsPerBlock = 65536,
        .clockRate = (int)profile->clock_khz,
        .textureAlign = 512,
    };
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(supported && type < CU_EXEC_AFFINITY_TYPE_MAX, CUDA_ERROR_INVALID_VALUE);
    *supported = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *elements, CUarray_format format,
                                            unsigned channels, CUdevice device) {
    (void)format;
    REQUIRE_DEVICE(device);
    REQUIRE(elements && channels, CUDA_ERROR_INVALID_VALUE);
    *elements = (size_t)1 << 28;
    return CUDA_SUCCESS;
}
