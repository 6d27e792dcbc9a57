/* NVML's memory information, as the program's own view: see wrap_info.c. Everything else of NVML,
 * including the list of processes, is unchanged. */
#include <stdio.h>
#include <string.h>

#include "lookup/hook_table.h"
#include "process/config.h"
#include "process/devices.h"

/* CUDA identifies a GPU by 16 bytes, NVML by a text made of them. */
static bool is_device(const struct device *device, const char *uuid) {
    char text[48];
    int length = snprintf(text, sizeof text, "GPU-");
    for (int i = 0; i < 16; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%02x",
                           i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", device->uuid[i]);
    return strcmp(text, uuid) == 0;
}

static struct device *find_device(nvmlDevice_t handle) {
    char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
    if (real.nvmlDeviceGetUUID(handle, uuid, sizeof uuid) != NVML_SUCCESS)
        return NULL;
    for (CUdevice i = 0; i < DEVICES_MAX; i++)
        if (device_known(i) && is_device(device_known(i), uuid))
            return device_known(i);
    return NULL;
}

struct view {
    unsigned long long total, used;
};

/* Returns false for a program that has neither a limit nor memory on that GPU: it gets NVML's
 * answer. */
static bool own_view(nvmlDevice_t handle, unsigned long long total, struct view *view) {
    struct device *device = config()->disable ? NULL : find_device(handle);
    uint64_t limit = config()->disable ? 0 : config()->limits.memory_limit;
    struct device_view own = {0};
    if (!device && !limit)
        return false;
    if (device) {
        own = device_view(device);
        /* NVML also counts CUDA's own memory; a program without a limit sees NVML's number. */
        limit = own.is_limited ? own.total : 0;
    }
    view->total = limit && limit < total ? limit : total;
    view->used = own.total - own.free;
    if (view->used > view->total)
        view->used = view->total;
    return true;
}

static void need_nvml(const char *name) {
    const struct hook *hook = hook_named(name);
    if (!hook_real(hook))
        driver_look();
}

EXPORTED nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    struct view view;
    need_nvml("nvmlDeviceGetMemoryInfo");
    nvmlReturn_t result = real.nvmlDeviceGetMemoryInfo(device, memory);
    if (result == NVML_SUCCESS && own_view(device, memory->total, &view))
        *memory =
            (nvmlMemory_t){.total = view.total, .free = view.total - view.used, .used = view.used};
    return result;
}

EXPORTED nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    struct view view;
    need_nvml("nvmlDeviceGetMemoryInfo_v2");
    nvmlReturn_t result = real.nvmlDeviceGetMemoryInfo_v2(device, memory);
    if (result == NVML_SUCCESS && own_view(device, memory->total, &view))
        *memory = (nvmlMemory_v2_t){.version = memory->version,
                                    .total = view.total,
                                    .free = view.total - view.used,
                                    .used = view.used};
    return result;
}
