"""An emulated node as NVML shows it, as values. Draws nothing.

It reads through nvidia-ml-py, like any monitoring program, and so shows what such a program sees.
The one exception is the host memory of programs.
"""

import ctypes
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nvshare.errors import NvshareError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import NVML
from nvshare.lab.emulator.report import read_report


@dataclass(frozen=True)
class ProcessReading:
    """A program that holds memory on a GPU.

    ``memory_bytes`` is from NVML, which leaves managed memory out; ``host_bytes`` are the host
    pages of its managed memory, of all GPUs, which only the node itself knows.
    """

    pid: int
    name: str
    memory_bytes: int
    host_bytes: int


@dataclass(frozen=True)
class GpuReading:
    """One GPU at one moment. A value that the library does not give is None."""

    index: int
    name: str
    uuid: str
    temperature_c: int | None
    power_w: float | None
    power_limit_w: float | None
    memory_used_bytes: int
    memory_total_bytes: int
    utilisation_percent: int | None
    processes: tuple[ProcessReading, ...]
    # Why the other values are missing, if NVML gives none: the GPU is lost, for example.
    error: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """A whole node at one moment."""

    node: str
    driver_version: str
    gpus: tuple[GpuReading, ...]


class Reader:
    """Reads one node. A process can have only one reader: NVML is loaded once and stays loaded."""

    def __init__(self, node: Node, libraries: Path) -> None:
        environment = node.environment(libraries, os.environ)
        # The dynamic linker read its variables when this process started, so our library is
        # loaded by its path; pynvml then asks for the bare name and gets the loaded one.
        for variable in ("LD_LIBRARY_PATH", "LD_PRELOAD"):
            environment.pop(variable)
        os.environ.update(environment)
        ctypes.CDLL(str(libraries / NVML), mode=ctypes.RTLD_GLOBAL)

        import pynvml

        self._nvml: Any = pynvml
        self._node = node
        self._libraries = libraries
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError as error:
            raise NvshareError(
                f'the emulated node "{node.name}" cannot be read through NVML',
                why=str(error),
                do=f"remove it with `nvshare emulate down {node.name}` and start it again",
            ) from error

    def read(self) -> Snapshot:
        """Take a snapshot now."""
        report = read_report(self._node.folder, self._libraries)
        host = {process.pid: process.host_bytes for process in report.processes}
        return Snapshot(
            node=self._node.name,
            driver_version=self._nvml.nvmlSystemGetDriverVersion(),
            gpus=tuple(self._look(i, host) for i in range(self._nvml.nvmlDeviceGetCount())),
        )

    def _look(self, index: int, host: Mapping[int, int]) -> GpuReading:
        try:
            return self._gpu(index, host)
        except self._nvml.NVMLError as error:
            name = self._node.gpu_names[index]
            return GpuReading(index, name, "", None, None, None, 0, 0, None, (), str(error))

    def _gpu(self, index: int, host: Mapping[int, int]) -> GpuReading:
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        power = self._optional(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        limit = self._optional(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle))
        sensor = nvml.NVML_TEMPERATURE_GPU
        return GpuReading(
            index=index,
            name=nvml.nvmlDeviceGetName(handle),
            uuid=nvml.nvmlDeviceGetUUID(handle),
            temperature_c=self._optional(lambda: nvml.nvmlDeviceGetTemperature(handle, sensor)),
            power_w=None if power is None else power / 1000,
            power_limit_w=None if limit is None else limit / 1000,
            memory_used_bytes=memory.used,
            memory_total_bytes=memory.total,
            utilisation_percent=self._optional(
                lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu
            ),
            processes=tuple(
                ProcessReading(
                    found.pid,
                    process_name(found.pid),
                    found.usedGpuMemory or 0,
                    host.get(found.pid, 0),
                )
                for found in nvml.nvmlDeviceGetComputeRunningProcesses(handle)
            ),
        )

    def _optional(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except self._nvml.NVMLError_NotSupported:
            return None


def process_name(pid: int, proc: Path = Path("/proc")) -> str:
    """Return the name of a process, or "?" if it is gone."""
    try:
        return (proc / str(pid) / "comm").read_text().strip()
    except OSError:
        return "?"
