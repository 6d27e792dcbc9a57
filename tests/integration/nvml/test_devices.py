"""NVML's answers about a GPU agree with node.conf."""

import ctypes
import os
from collections.abc import Callable
from typing import Any

import pytest

from nvshare.lab.emulator.conf import Conf
from nvshare.lab.emulator.emulated_node import Node

Begin = Callable[[Node], Any]


def struct_version(struct: type[ctypes.Structure]) -> int:
    """NVML_STRUCT_VERSION of nvml.h, for the first version of a struct."""
    return ctypes.sizeof(struct) | 1 << 24


def test_counts_and_finds_devices_every_way(nvml: Any, conf: Conf) -> None:
    assert nvml.nvmlDeviceGetCount() == len(conf.gpus) == 2
    for index, gpu in enumerate(conf.gpus):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        bus = int(gpu["pci_bus"])
        ways = [
            nvml.nvmlDeviceGetHandleByUUID(gpu["uuid"]),
            nvml.nvmlDeviceGetHandleByUUID(gpu["uuid"].lower()),
            nvml.nvmlDeviceGetHandleBySerial(nvml.nvmlDeviceGetSerial(handle)),
            nvml.nvmlDeviceGetHandleByPciBusId(f"00000000:{bus:02X}:00.0"),
            nvml.nvmlDeviceGetHandleByPciBusId(f"0:{bus:x}:0"),
            nvml.nvmlDeviceGetHandleByPciBusId(f"{bus:x}:0.0"),
        ]
        assert [nvml.nvmlDeviceGetIndex(way) for way in ways] == [index] * len(ways)


class Uuid(ctypes.Structure):
    """nvmlUUID_v1_t of nvml.h; the union in it is text or 16 bytes."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("type", ctypes.c_uint),
        ("value", ctypes.c_char * 41),
    )


def test_finds_a_device_by_a_uuid_in_text_or_binary(nvml: Any, conf: Conf) -> None:
    find = nvml._nvmlGetFunctionPointer("nvmlDeviceGetHandleByUUIDV")
    text = conf.gpus[1]["uuid"]
    binary = bytes.fromhex(text.removeprefix("GPU-").replace("-", ""))
    for kind, value, result in ((1, text.encode(), 0), (2, binary, 0), (3, binary, 2)):
        uuid = Uuid(struct_version(Uuid), kind)
        ctypes.memmove(ctypes.addressof(uuid) + Uuid.value.offset, value, len(value))
        handle = nvml.c_nvmlDevice_t()
        assert find(ctypes.byref(uuid), ctypes.byref(handle)) == result
        assert result or nvml.nvmlDeviceGetIndex(handle) == 1


def test_identity_is_that_of_the_profile(nvml: Any, conf: Conf) -> None:
    gpu = conf.gpus[1]
    handle = nvml.nvmlDeviceGetHandleByIndex(1)
    assert nvml.nvmlDeviceGetName(handle) == gpu["name"] == "Tesla T4"
    assert nvml.nvmlDeviceGetUUID(handle) == gpu["uuid"]
    assert nvml.nvmlDeviceGetMinorNumber(handle) == 1
    assert nvml.nvmlDeviceGetBrand(handle) == nvml.NVML_BRAND_TESLA
    assert nvml.nvmlDeviceGetArchitecture(handle) == nvml.NVML_DEVICE_ARCH_TURING
    assert nvml.nvmlDeviceGetCudaComputeCapability(handle) == (7, 5)
    assert nvml.nvmlDeviceGetNumGpuCores(handle) == 2560
    assert nvml.nvmlDeviceGetMemoryBusWidth(handle) == int(gpu["memory_bus_bits"])
    serials = {
        nvml.nvmlDeviceGetSerial(nvml.nvmlDeviceGetHandleByIndex(i)) for i in range(len(conf.gpus))
    }
    assert len(serials) == 2


class PciInfoExt(ctypes.Structure):
    """nvmlPciInfoExt_v1_t of nvml.h."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("pciDeviceId", ctypes.c_uint),
        ("pciSubSystemId", ctypes.c_uint),
        ("baseClass", ctypes.c_uint),
        ("subClass", ctypes.c_uint),
        ("busId", ctypes.c_char * 32),
    )


def test_pci_info_in_every_version(nvml: Any, conf: Conf) -> None:
    bus = int(conf.gpus[0]["pci_bus"])
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    info = nvml.nvmlDeviceGetPciInfo_v3(handle)
    assert (info.domain, info.bus, info.device) == (0, bus, 0)
    assert info.busId == f"00000000:{bus:02X}:00.0"
    assert info.busIdLegacy == f"0000:{bus:02X}:00.0"
    assert info.pciDeviceId & 0xFFFF == 0x10DE
    extended = PciInfoExt(struct_version(PciInfoExt))
    question = nvml._nvmlGetFunctionPointer("nvmlDeviceGetPciInfoExt")
    assert question(handle, ctypes.byref(extended)) == 0
    assert (extended.domain, extended.bus, extended.device) == (0, bus, 0)
    assert extended.pciDeviceId == info.pciDeviceId
    assert extended.busId.decode() == info.busId


def test_old_pci_info_does_not_write_past_the_struct_of_its_time(nvml: Any) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    for name, size in (("nvmlDeviceGetPciInfo", 32), ("nvmlDeviceGetPciInfo_v2", 36)):
        buffer = ctypes.create_string_buffer(b"\xee" * 68, 68)
        assert nvml._nvmlGetFunctionPointer(name)(handle, buffer) == 0
        assert buffer.raw[size - 1 :].count(b"\xee") >= 68 - size
        assert buffer.raw[:7] == b"0000:01"


def test_link_and_clocks_and_board(nvml: Any, conf: Conf) -> None:
    gpu = conf.gpus[0]
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    assert nvml.nvmlDeviceGetMaxPcieLinkGeneration(handle) == int(gpu["pcie_generation"])
    assert nvml.nvmlDeviceGetCurrPcieLinkWidth(handle) == int(gpu["pcie_width"])
    assert nvml.nvmlDeviceGetPcieSpeed(handle) == 8000
    for clock, key in (
        (nvml.NVML_CLOCK_SM, "clock_khz"),
        (nvml.NVML_CLOCK_MEM, "memory_clock_khz"),
    ):
        full = int(gpu[key]) // 1000
        assert nvml.nvmlDeviceGetMaxClockInfo(handle, clock) == full
        assert nvml.nvmlDeviceGetClockInfo(handle, clock) < full / 2
    assert nvml.nvmlDeviceGetPowerUsage(handle) == int(gpu["power_idle_mw"])
    assert nvml.nvmlDeviceGetEnforcedPowerLimit(handle) == int(gpu["power_limit_mw"])
    sensor = nvml.NVML_TEMPERATURE_GPU
    assert nvml.nvmlDeviceGetTemperature(handle, sensor) == int(gpu["temperature_idle_c"])
    assert nvml.nvmlDeviceGetTemperatureV(handle, sensor) == int(gpu["temperature_idle_c"])
    assert nvml.nvmlDeviceGetPerformanceState(handle) == nvml.NVML_PSTATE_8


def test_the_switches_are_where_a_server_has_them(nvml: Any) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    assert nvml.nvmlDeviceGetPersistenceMode(handle) == nvml.NVML_FEATURE_ENABLED
    assert nvml.nvmlDeviceGetComputeMode(handle) == nvml.NVML_COMPUTEMODE_DEFAULT
    assert nvml.nvmlDeviceGetDisplayActive(handle) == nvml.NVML_FEATURE_DISABLED
    assert nvml.nvmlDeviceGetEccMode(handle) == [nvml.NVML_FEATURE_ENABLED] * 2
    assert nvml.nvmlDeviceGetTotalEccErrors(handle, 0, 0) == 0
    assert nvml.nvmlDeviceGetVirtualizationMode(handle) == nvml.NVML_GPU_VIRTUALIZATION_MODE_NONE


@pytest.mark.parametrize(
    "question",
    ["nvmlDeviceGetFanSpeed", "nvmlDeviceGetMigMode", "nvmlDeviceGetGpuOperationMode"],
)
def test_what_a_t4_does_not_have_is_refused_in_silence(
    nvml: Any, capfd: pytest.CaptureFixture[str], question: str
) -> None:
    with pytest.raises(nvml.NVMLError_NotSupported):
        getattr(nvml, question)(nvml.nvmlDeviceGetHandleByIndex(0))
    assert capfd.readouterr() == ("", "")


def test_a_newer_board_has_mig_switched_off(on_node: Begin, make_node: Callable[..., Node]) -> None:
    nvml = on_node(make_node("1xa100-40g"))
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    assert nvml.nvmlDeviceGetMigMode(handle) == [nvml.NVML_DEVICE_MIG_DISABLE] * 2
    assert nvml.nvmlDeviceGetArchitecture(handle) == nvml.NVML_DEVICE_ARCH_AMPERE


def test_topology(nvml: Any) -> None:
    one, other = (nvml.nvmlDeviceGetHandleByIndex(i) for i in range(2))
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(one, other) == nvml.NVML_TOPOLOGY_NODE
    near = nvml.nvmlDeviceGetTopologyNearestGpus(one, nvml.NVML_TOPOLOGY_NODE)
    assert [nvml.nvmlDeviceGetIndex(handle) for handle in near] == [1]
    cpus = os.sysconf("SC_NPROCESSORS_CONF")
    words = nvml.nvmlDeviceGetCpuAffinity(one, cpus // 64 + 1)
    assert sum(word.bit_count() for word in words) == cpus


def test_versions(nvml: Any) -> None:
    driver = nvml.nvmlSystemGetDriverVersion()
    assert nvml.nvmlSystemGetNVMLVersion() == f"13.{driver}"
    assert nvml.nvmlSystemGetCudaDriverVersion() == nvml.nvmlSystemGetCudaDriverVersion_v2()
    assert nvml.nvmlSystemGetCudaDriverVersion() // 1000 == 13


def test_name_of_a_process(nvml: Any) -> None:
    assert "python" in nvml.nvmlSystemGetProcessName(os.getpid())
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlSystemGetProcessName(2**30)
