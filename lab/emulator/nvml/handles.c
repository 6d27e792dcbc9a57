/* From an index, a UUID, a serial number or a PCI address to a handle. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "identity.h"
#include "look.h"
#include "pci_identity.h"

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
    LOOK_AT_NODE(count);
    *count = look.node->profile.gpu_count;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    LOOK_AT_NODE(device);
    if (index >= look.node->profile.gpu_count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = handle_of(index);
    return NVML_SUCCESS;
}

typedef bool matcher(const struct gpu_profile *profile, const void *wanted);

static nvmlReturn_t find(const struct look *look, matcher *matches, const void *wanted,
                         nvmlDevice_t *device) {
    for (uint32_t i = 0; i < look->node->profile.gpu_count; i++) {
        if (matches(&look->node->gpus[i].profile, wanted)) {
            *device = handle_of(i);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

static bool has_uuid(const struct gpu_profile *profile, const void *wanted) {
    return strcasecmp(profile->uuid, wanted) == 0;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    LOOK_AT_NODE(uuid && device);
    return find(&look, has_uuid, uuid, device);
}

static bool has_binary_uuid(const struct gpu_profile *profile, const void *wanted) {
    unsigned char bytes[NVML_DEVICE_UUID_BINARY_LEN];
    return uuid_bytes(profile, bytes) && memcmp(bytes, wanted, sizeof bytes) == 0;
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device) {
    LOOK_AT_NODE(uuid && device);
    if (uuid->version != nvmlUUID_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (uuid->type == NVML_UUID_TYPE_BINARY)
        return find(&look, has_binary_uuid, uuid->value.bytes, device);
    if (uuid->type != NVML_UUID_TYPE_ASCII)
        return NVML_ERROR_INVALID_ARGUMENT;
    char text[NVML_DEVICE_UUID_ASCII_LEN + 1] = {0};
    memcpy(text, uuid->value.str, NVML_DEVICE_UUID_ASCII_LEN);
    return find(&look, has_uuid, text, device);
}

static bool has_serial(const struct gpu_profile *profile, const void *wanted) {
    char serial[SERIAL_BYTES];
    serial_number(profile, serial);
    return strcmp(serial, wanted) == 0;
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device) {
    LOOK_AT_NODE(serial && device);
    return find(&look, has_serial, serial, device);
}

struct address {
    unsigned int domain, bus, device, function;
};

/* The three spellings that the header allows: domain:bus:device.function, domain:bus:device and
 * bus:device.function. */
static bool parse_address(const char *text, struct address *address) {
    int end = 0;
    *address = (struct address){0};
    if (sscanf(text, "%x:%x:%x%n", &address->domain, &address->bus, &address->device, &end) < 3) {
        address->domain = EMULATED_PCI_DOMAIN;
        if (sscanf(text, "%x:%x%n", &address->bus, &address->device, &end) < 2)
            return false;
    }
    if (text[end] != '.')
        return text[end] == '\0';
    int rest = 0;
    return sscanf(text + end, ".%1x%n", &address->function, &rest) == 1 && !text[end + rest];
}

static bool has_address(const struct gpu_profile *profile, const void *wanted) {
    const struct address *address = wanted;
    return address->domain == EMULATED_PCI_DOMAIN && address->bus == profile->pci_bus &&
           address->device == EMULATED_PCI_DEVICE && address->function == 0;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvmlDevice_t *device) {
    LOOK_AT_NODE(bus_id && device);
    struct address address;
    if (!parse_address(bus_id, &address))
        return NVML_ERROR_INVALID_ARGUMENT;
    return find(&look, has_address, &address, device);
}

ANSWER(nvmlDeviceGetIndex, unsigned int, look.index);
ANSWER(nvmlDeviceGetMinorNumber, unsigned int, look.index);
