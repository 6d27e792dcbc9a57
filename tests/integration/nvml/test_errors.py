"""The errors of NVML are those that its header documents."""

import ctypes
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder


def test_without_a_node_there_is_no_driver(
    pynvml: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NVSHARE_EMULATOR_NODE", raising=False)
    with pytest.raises(pynvml.NVMLError_DriverNotLoaded):
        pynvml.nvmlInit()
    said = capfd.readouterr()
    assert said.out == ""
    assert "nvshare emulate" in said.err


def test_before_init_and_after_the_last_shutdown_nothing_answers(
    pynvml: Any, monkeypatch: pytest.MonkeyPatch, node: Node
) -> None:
    monkeypatch.setenv("NVSHARE_EMULATOR_NODE", str(node.folder))
    with pytest.raises(pynvml.NVMLError_Uninitialized):
        pynvml.nvmlDeviceGetCount()
    pynvml.nvmlInit()
    pynvml.nvmlInit()
    pynvml.nvmlShutdown()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    pynvml.nvmlShutdown()
    with pytest.raises(pynvml.NVMLError_Uninitialized):
        pynvml.nvmlDeviceGetMemoryInfo(handle)
    with pytest.raises(pynvml.NVMLError_Uninitialized):
        pynvml.nvmlShutdown()


def test_the_library_can_go_from_node_to_node(
    pynvml: Any, monkeypatch: pytest.MonkeyPatch, make_node: Callable[..., Node]
) -> None:
    for gpus in ("3xtiny", "1xtiny"):
        monkeypatch.setenv("NVSHARE_EMULATOR_NODE", str(make_node(gpus).folder))
        pynvml.nvmlInit()
        assert pynvml.nvmlDeviceGetCount() == int(gpus[0])
        pynvml.nvmlShutdown()


def test_wrong_handles(nvml: Any) -> None:
    nowhere = ctypes.cast(ctypes.create_string_buffer(8), ctypes.c_void_p)
    for handle in (None, nowhere):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceGetName(handle)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetHandleByIndex(2)
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000000")
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetHandleByPciBusId("00000000:EE:00.0")
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetHandleByPciBusId("00000000:01:00.1")
    for address in ("nonsense", "", "00000000:01:00.0x", "1"):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceGetHandleByPciBusId(address)


def test_null_results_and_unknown_values(nvml: Any) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    for name in ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetFanSpeed"):
        result = nvml._nvmlGetFunctionPointer(name)(handle, None)
        assert result == nvml.NVML_ERROR_INVALID_ARGUMENT
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_COUNT)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetTemperature(handle, 1)


def test_text_that_does_not_fit(nvml: Any) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    buffer = ctypes.create_string_buffer(8)
    function = nvml._nvmlGetFunctionPointer("nvmlDeviceGetName")
    assert function(handle, buffer, ctypes.c_uint(8)) == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert buffer.raw == bytes(8)


def test_a_struct_of_another_version(nvml: Any) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    struct = ctypes.create_string_buffer(256)
    for name in (
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetPciInfoExt",
        "nvmlDeviceGetProcessesUtilizationInfo",
        "nvmlDeviceGetRunningProcessDetailList",
    ):
        result = nvml._nvmlGetFunctionPointer(name)(handle, struct)
        assert result == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH, name
    assert struct.raw == bytes(256)


def test_waiting_for_events_ends_when_it_was_told_to(nvml: Any) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    events = nvml.nvmlEventSetCreate()
    wanted = nvml.nvmlEventTypeXidCriticalError | nvml.nvmlEventTypeDoubleBitEccError
    nvml.nvmlDeviceRegisterEvents(handle, wanted, events)
    begin = time.monotonic()
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlEventSetWait_v2(events, 50)
    assert 0.05 <= time.monotonic() - begin < 2
    nvml.nvmlEventSetFree(events)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceRegisterEvents(handle, 1 << 60, nvml.nvmlEventSetCreate())


def test_what_is_not_implemented_says_so_once(node: Node) -> None:
    program = """
import pynvml
pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
for _ in range(2):
    try:
        pynvml.nvmlDeviceSetPersistenceMode(handle, 1)
    except pynvml.NVMLError_NotSupported:
        pass
"""
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=node.environment(library_folder(), {}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stdout == ""
    assert result.stderr.count("nvmlDeviceSetPersistenceMode") == 1
