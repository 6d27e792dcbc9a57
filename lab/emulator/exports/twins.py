"""Old names that do exactly the same here as a newer name, so that they are written once.

Each becomes a weak function that calls the newer one; a definition by hand overrides it. The
compiler checks that the two types are the same. A name that is not listed is "not implemented"
until it is implemented. That is intended for the 32-bit functions of CUDA 3.1 (cuMemAlloc with an
unsigned int), which no 64-bit program can use.
"""

from __future__ import annotations

from typing import NamedTuple


class Twin(NamedTuple):
    """The old name calls the new one. `declared` is false for a name missing in the header."""

    old: str
    new: str
    why: str
    declared: bool = True


CUDA = (
    Twin("cuCtxCreate", "cuCtxCreate_v2", "_v2 marks the move to 64-bit pointers"),
    Twin("cuCtxDestroy", "cuCtxDestroy_v2", "_v2 may also destroy a context in use elsewhere"),
    Twin("cuCtxPopCurrent", "cuCtxPopCurrent_v2", "_v2 lets several threads share a context"),
    Twin("cuCtxPushCurrent", "cuCtxPushCurrent_v2", "_v2 lets several threads share a context"),
    Twin(
        "cuDeviceGetUuid", "cuDeviceGetUuid_v2", "they differ for MIG slices only; there are none"
    ),
    Twin("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", "_v2 also pops the context"),
    Twin("cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", "as for Release"),
    Twin(
        "cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2", "_v2 allows it when active"
    ),
    Twin("cuEventDestroy", "cuEventDestroy_v2", "_v2 does not wait for the event"),
    Twin("cuEventElapsedTime", "cuEventElapsedTime_v2", "_v2 does not report errors of others"),
    Twin("cuGraphInstantiate", "cuGraphInstantiate_v2", "the header gives both one meaning"),
    Twin("cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2", "_v2 counts openings per context"),
    Twin("cuLinkAddData", "cuLinkAddData_v2", "_v2 has the options of 6.5, a superset"),
    Twin("cuLinkAddFile", "cuLinkAddFile_v2", "as for AddData"),
    Twin("cuLinkCreate", "cuLinkCreate_v2", "as for AddData"),
    Twin("cuMemHostRegister", "cuMemHostRegister_v2", "_v2 accepts unaligned ranges as well"),
    Twin("cuStreamDestroy", "cuStreamDestroy_v2", "_v2 does not wait for the stream"),
)

NVML = (
    Twin("nvmlInit", "nvmlInit_v2", "_v2 does not fail when one of several GPUs does"),
    Twin("nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2", "one version here"),
    Twin("nvmlDeviceGetCount", "nvmlDeviceGetCount_v2", "_v2 counts GPUs one may not use; all may"),
    Twin("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2", "as for GetCount"),
    Twin("nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetHandleByPciBusId_v2", "as for GetCount"),
    Twin("nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v3", "the struct has both spellings"),
    Twin("nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3", "the struct has both spellings"),
    Twin("nvmlDeviceGetAttributes", "nvmlDeviceGetAttributes_v2", "one struct for both"),
    Twin(
        "nvmlDeviceGetComputeRunningProcesses_v2",
        "nvmlDeviceGetComputeRunningProcesses_v3",
        "one struct for both",
    ),
    Twin(
        "nvmlDeviceGetGraphicsRunningProcesses_v2",
        "nvmlDeviceGetGraphicsRunningProcesses_v3",
        "one struct for both",
    ),
    Twin(
        "nvmlDeviceGetMPSComputeRunningProcesses_v2",
        "nvmlDeviceGetMPSComputeRunningProcesses_v3",
        "one struct for both",
    ),
    Twin("nvmlEventSetWait", "nvmlEventSetWait_v2", "_v2 tells the MIG slice as well"),
    Twin(
        "nvmlGetBlacklistDeviceCount",
        "nvmlGetExcludedDeviceCount",
        "renamed; a macro is all that the header keeps of the old name",
        declared=False,
    ),
    Twin(
        "nvmlGetBlacklistDeviceInfoByIndex",
        "nvmlGetExcludedDeviceInfoByIndex",
        "renamed; a macro is all that the header keeps of the old name",
        declared=False,
    ),
)
