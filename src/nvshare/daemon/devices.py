"""The GPUs of this machine, as NVML gives them."""

from dataclasses import dataclass
from typing import Any

from nvshare.errors import NvshareError


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. ``memory`` is what programs can allocate in all, as cuMemGetInfo gives it."""

    index: int
    uuid: str
    name: str
    memory: int

    @property
    def key(self) -> bytes:
        """The UUID as it is in a frame."""
        return uuid_bytes(self.uuid)


def uuid_bytes(uuid: str) -> bytes:
    """Turn "GPU-12345678-…" or "MIG-…" into the bytes that the CUDA driver gives."""
    return bytes.fromhex(uuid.partition("-")[2].replace("-", ""))


def find_gpus() -> list[Gpu]:
    """Ask NVML. A machine without GPUs is an error that says what to do."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise NvshareError(
            "no GPU can be found on this machine",
            why=f"NVML: {error}",
            do="install the NVIDIA driver; or try nvshare on emulated GPUs, with "
            "`nvshare emulate --gpus 2xt4 -- COMMAND`",
        ) from error
    try:
        gpus = [_read(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
    finally:
        pynvml.nvmlShutdown()
    if not gpus:
        raise NvshareError(
            "there is no GPU in this machine",
            why="NVML is there, and lists none",
            do="check with nvidia-smi that the driver sees the GPU",
        )
    return gpus


def _read(nvml: Any, index: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    return Gpu(
        index=index,
        uuid=nvml.nvmlDeviceGetUUID(handle),
        name=nvml.nvmlDeviceGetName(handle),
        memory=_memory(nvml, handle),
    )


def _memory(nvml: Any, handle: Any) -> int:
    """Without what the driver keeps for itself, which only the newer form of the call tells."""
    try:
        info = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        return int(info.total - info.reserved)
    except nvml.NVMLError:
        return int(nvml.nvmlDeviceGetMemoryInfo(handle).total)
