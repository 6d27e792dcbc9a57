"""Reading NVML, from a stand-in for pynvml. Library and report have tests of their own."""

import ctypes
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nvshare.errors import NvshareError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.smi import GpuReading, ProcessReading, Reader, Snapshot, process_name

NODE = Node("lab", Path("/n/lab"), 100.0, ("Tesla T4",))


class NvmlError(Exception):
    pass


class NotSupportedError(NvmlError):
    pass


def not_supported(*_: object) -> None:
    raise NotSupportedError("Not Supported")


def stand_in(**changes: Any) -> SimpleNamespace:
    functions = {
        "NVMLError": NvmlError,
        "NVMLError_NotSupported": NotSupportedError,
        "NVML_TEMPERATURE_GPU": 0,
        "nvmlInit": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: "570.133",
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda _: "Tesla T4",
        "nvmlDeviceGetUUID": lambda _: "GPU-1",
        "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(used=10, total=100),
        "nvmlDeviceGetPowerUsage": lambda _: 12_500,
        "nvmlDeviceGetEnforcedPowerLimit": lambda _: 70_000,
        "nvmlDeviceGetTemperature": lambda _handle, _sensor: 40,
        "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=99),
        "nvmlDeviceGetComputeRunningProcesses": lambda _: [
            SimpleNamespace(pid=os.getpid(), usedGpuMemory=7),
        ],
    }
    return SimpleNamespace(**functions | changes)


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Load nothing, and return the list of libraries that would have been loaded."""
    paths: list[str] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda path, **_: paths.append(path))
    # Set here so that it is restored at the end, whatever the reader does to it.
    monkeypatch.setenv("NVSHARE_EMULATOR_NODE", "")
    monkeypatch.setenv("NVSHARE_EMULATOR_SPEED", "")
    own = SimpleNamespace(pid=os.getpid(), host_bytes=5)
    report = SimpleNamespace(processes=[own])
    monkeypatch.setattr("nvshare.lab.emulator.smi.read_report", lambda *_: report)
    return paths


def test_a_snapshot_has_all_that_nvml_says(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", stand_in())
    snapshot = Reader(NODE, Path("/lib")).read()
    process = ProcessReading(os.getpid(), process_name(os.getpid()), 7, 5)
    gpu = GpuReading(0, "Tesla T4", "GPU-1", 40, 12.5, 70.0, 10, 100, 99, (process,))
    assert snapshot == Snapshot("lab", "570.133", (gpu,))
    assert loaded == ["/lib/libnvidia-ml.so.1"]
    assert os.environ["NVSHARE_EMULATOR_NODE"] == "/n/lab"


def test_a_gpu_that_is_lost_is_shown_beside_the_others(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml = stand_in(nvmlDeviceGetMemoryInfo=not_supported)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    (gpu,) = Reader(NODE, Path("/lib")).read().gpus
    assert (gpu.index, gpu.error) == (0, "Not Supported")
    assert loaded


def test_what_nvml_does_not_support_is_none(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = stand_in(
        nvmlDeviceGetPowerUsage=not_supported,
        nvmlDeviceGetEnforcedPowerLimit=not_supported,
        nvmlDeviceGetTemperature=not_supported,
        nvmlDeviceGetUtilizationRates=not_supported,
    )
    monkeypatch.setitem(sys.modules, "pynvml", changed)
    (gpu,) = Reader(NODE, Path("/lib")).read().gpus
    assert (gpu.power_w, gpu.power_limit_w) == (None, None)
    assert (gpu.temperature_c, gpu.utilisation_percent) == (None, None)
    assert loaded


def test_a_node_that_nvml_refuses_is_an_error_for_a_person(
    loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", stand_in(nvmlInit=not_supported))
    with pytest.raises(NvshareError, match="cannot be read"):
        Reader(NODE, Path("/lib"))
    assert loaded


def test_a_process_that_has_gone_has_no_name(tmp_path: Path) -> None:
    assert process_name(1, proc=tmp_path) == "?"
