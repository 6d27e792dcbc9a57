"""What NVML reports of one GPU. A value that it does not have is None: drivers differ in that."""

from collections.abc import Callable
from typing import Any


class Nvml:
    """An NVML session, and the GPU with a given UUID or PCI address."""

    def __init__(self, bus_id: str) -> None:
        import pynvml

        self._nvml: Any = pynvml
        self._nvml.nvmlInit()
        self._handle = self._nvml.nvmlDeviceGetHandleByPciBusId(bus_id.encode())

    def close(self) -> None:
        """Close the session."""
        self._nvml.nvmlShutdown()

    def _try(self, read: Callable[[Any], Any]) -> Any:
        # Old drivers lack functions, some GPUs lack answers, and old bindings lack both.
        try:
            return read(self._nvml)
        except (self._nvml.NVMLError, AttributeError):
            return None

    def _of_gpu(self, name: str, *arguments: Any) -> Any:
        return self._try(lambda nvml: getattr(nvml, name)(self._handle, *arguments))

    def driver_version(self) -> str | None:
        """Return the version of the driver, such as 595.45.04."""
        version = self._try(lambda nvml: nvml.nvmlSystemGetDriverVersion())
        return None if version is None else str(version)

    def uuid(self) -> str | None:
        """Return "GPU-…"."""
        uuid = self._of_gpu("nvmlDeviceGetUUID")
        return None if uuid is None else str(uuid)

    def bus_id(self) -> str | None:
        """Return the PCI address."""
        info = self._of_gpu("nvmlDeviceGetPciInfo")
        return None if info is None else _text(info.busId)

    def free_bytes(self) -> int | None:
        """Return free memory."""
        info = self._memory()
        return None if info is None else int(info.free)

    def total_bytes(self) -> int | None:
        """Return the size of the memory."""
        info = self._memory()
        return None if info is None else int(info.total)

    def _memory(self) -> Any:
        return self._of_gpu("nvmlDeviceGetMemoryInfo")

    def process_bytes(self) -> dict[int, int | None]:
        """Return the memory of each process with a context; None: not reported."""
        found = self._of_gpu("nvmlDeviceGetComputeRunningProcesses") or []
        return {int(one.pid): _whole(one.usedGpuMemory) for one in found}

    def process_percent(self, since: int) -> tuple[dict[int, int], int]:
        """Return the share of time of each process since a moment, and the newest moment."""
        found = self._of_gpu("nvmlDeviceGetProcessUtilization", since) or []
        newest = max((int(one.timeStamp) for one in found), default=since)
        return {int(one.pid): int(one.smUtil) for one in found}, newest

    def compute_mode(self) -> str | None:
        """Return the compute mode: how many contexts the GPU admits."""
        modes = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
        mode = self._of_gpu("nvmlDeviceGetComputeMode")
        return None if mode is None else modes.get(int(mode), str(mode))

    def mig(self) -> bool | None:
        """Return whether the GPU is in MIG mode; None: it has none."""
        mode = self._of_gpu("nvmlDeviceGetMigMode")
        return None if mode is None else bool(mode[0])

    def pcie(self) -> tuple[int | None, int | None]:
        """Return the highest generation and width that both GPU and slot support."""
        generation = self._of_gpu("nvmlDeviceGetMaxPcieLinkGeneration")
        return _whole(generation), _whole(self._of_gpu("nvmlDeviceGetMaxPcieLinkWidth"))

    def cores(self) -> int | None:
        """Return the number of CUDA cores."""
        return _whole(self._of_gpu("nvmlDeviceGetNumGpuCores"))

    def power(self) -> tuple[float | None, float | None]:
        """Return the power drawn now, and the limit, in watts."""
        now = self._of_gpu("nvmlDeviceGetPowerUsage")
        limit = self._of_gpu("nvmlDeviceGetEnforcedPowerLimit")
        return (None if now is None else now / 1000), (None if limit is None else limit / 1000)

    def temperature(self) -> int | None:
        """Return the temperature in degrees Celsius."""
        sensor = self._nvml.NVML_TEMPERATURE_GPU
        return _whole(self._of_gpu("nvmlDeviceGetTemperature", sensor))


def _text(value: "str | bytes") -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)
