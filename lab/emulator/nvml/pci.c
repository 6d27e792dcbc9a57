/* The place of a GPU on the bus, and the capabilities of its link. */
#include <stdio.h>
#include <string.h>

#include "look.h"
#include "pci_identity.h"

static nvmlPciInfo_t pci_info(const struct gpu_profile *profile) {
    nvmlPciInfo_t info = {
        .domain = EMULATED_PCI_DOMAIN,
        .bus = (unsigned int)profile->pci_bus,
        .device = EMULATED_PCI_DEVICE,
        .pciDeviceId = EMULATED_PCI_DEVICE_ID,
        .pciSubSystemId = EMULATED_PCI_SUBSYSTEM_ID,
    };
    snprintf(info.busIdLegacy, sizeof info.busIdLegacy, NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT,
             NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(&info));
    snprintf(info.busId, sizeof info.busId, NVML_DEVICE_PCI_BUS_ID_FMT,
             NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(&info));
    return info;
}

/* The struct has grown twice. A program that was compiled for an older one has no room for the new
 * fields, so each version writes no more than its own struct. */
static nvmlReturn_t give_pci_info(nvmlDevice_t device, nvmlPciInfo_t *pci, size_t bytes) {
    LOOK_AT_GPU(device, pci);
    nvmlPciInfo_t info = pci_info(&look.gpu->profile);
    memcpy(pci, &info, bytes);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    return give_pci_info(device, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    return give_pci_info(device, pci, offsetof(nvmlPciInfo_t, busId));
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    return give_pci_info(device, pci, sizeof *pci);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci) {
    LOOK_AT_GPU(device, pci);
    if (pci->version != nvmlPciInfoExt_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlPciInfo_t info = pci_info(&look.gpu->profile);
    pci->domain = info.domain;
    pci->bus = info.bus;
    pci->device = info.device;
    pci->pciDeviceId = info.pciDeviceId;
    pci->pciSubSystemId = info.pciSubSystemId;
    pci->baseClass = EMULATED_PCI_BASE_CLASS;
    pci->subClass = EMULATED_PCI_SUB_CLASS;
    memcpy(pci->busId, info.busId, sizeof pci->busId);
    return NVML_SUCCESS;
}

/* Megatransfers per second and lane, by generation. */
static unsigned int link_speed(uint64_t generation) {
    static const unsigned int SPEEDS[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};
    uint64_t last = sizeof SPEEDS / sizeof SPEEDS[0] - 1;
    return SPEEDS[generation < last ? generation : last];
}

static unsigned int link_speed_code(uint64_t generation) {
    return (unsigned int)(generation < NVML_PCIE_LINK_MAX_SPEED_64000MBPS
                              ? generation
                              : NVML_PCIE_LINK_MAX_SPEED_64000MBPS);
}

/* A real link slows down when idle; this one does not. */
ANSWER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, look.gpu->profile.pcie_generation);
ANSWER(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned int, look.gpu->profile.pcie_generation);
ANSWER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int, look.gpu->profile.pcie_generation);
ANSWER(nvmlDeviceGetMaxPcieLinkWidth, unsigned int, look.gpu->profile.pcie_width);
ANSWER(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, look.gpu->profile.pcie_width);
ANSWER(nvmlDeviceGetPcieSpeed, unsigned int, link_speed(look.gpu->profile.pcie_generation));
ANSWER(nvmlDeviceGetPcieLinkMaxSpeed, unsigned int,
       link_speed_code(look.gpu->profile.pcie_generation));
ANSWER(nvmlDeviceGetPcieReplayCounter, unsigned int, 0);
ANSWER(nvmlDeviceGetBusType, nvmlBusType_t, NVML_BUS_TYPE_PCIE);
