/* There are no NVLinks and no fabric of them: the GPUs of an emulated node meet on the PCIe bus. */
#include "look.h"

REFUSE(nvmlDeviceGetNvLinkState, active, unsigned int link, nvmlEnableState_t *active);
REFUSE(nvmlDeviceGetNvLinkVersion, version, unsigned int link, unsigned int *version);
REFUSE(nvmlDeviceGetNvLinkCapability, result, unsigned int link, nvmlNvLinkCapability_t capability,
       unsigned int *result);
REFUSE(nvmlDeviceGetNvLinkRemotePciInfo, pci, unsigned int link, nvmlPciInfo_t *pci);
REFUSE(nvmlDeviceGetNvLinkRemotePciInfo_v2, pci, unsigned int link, nvmlPciInfo_t *pci);
REFUSE(nvmlDeviceGetNvLinkRemoteDeviceType, type, unsigned int link,
       nvmlIntNvLinkDeviceType_t *type);
REFUSE(nvmlDeviceGetNvLinkErrorCounter, value, unsigned int link, nvmlNvLinkErrorCounter_t counter,
       unsigned long long *value);
REFUSE(nvmlDeviceGetGpuFabricInfoV, info, nvmlGpuFabricInfoV_t *info);
