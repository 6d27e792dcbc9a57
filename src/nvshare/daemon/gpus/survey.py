"""The GPUs of this machine, as NVML gives them."""

import contextlib
from dataclasses import dataclass
from typing import Any

from nvshare.daemon.gpus.nvml import open_nvml
from nvshare.errors import NvshareError


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. ``memory`` is the total that programs can allocate, as cuMemGetInfo gives it."""

    index: int
    uuid: str
    name: str
    memory: int

    @property
    def key(self) -> bytes:
        """The UUID as it is in a frame."""
        return uuid_bytes(self.uuid)


@dataclass(frozen=True, slots=True)
class Missing:
    """A GPU that NVML counts but does not describe: it is lost, or not supported."""

    index: int
    why: str


@dataclass(frozen=True, slots=True)
class Survey:
    """What NVML says of the GPUs of this machine."""

    gpus: tuple[Gpu, ...] = ()
    missing: tuple[Missing, ...] = ()


def uuid_bytes(uuid: str) -> bytes:
    """Turn "GPU-12345678-…" or "MIG-…" into the bytes that the CUDA driver gives."""
    return bytes.fromhex(uuid.partition("-")[2].replace("-", ""))


def survey_gpus() -> Survey:
    """Ask NVML. A machine without GPUs is an error that says what to do.

    A GPU that cannot be described does not keep the others from being described.
    """
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
        found = [_look(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
    finally:
        pynvml.nvmlShutdown()
    if not found:
        raise NvshareError(
            "there is no GPU in this machine",
            why="NVML is there, and lists none",
            do="check with nvidia-smi that the driver sees the GPU",
        )
    return Survey(
        tuple(one for one in found if isinstance(one, Gpu)),
        tuple(one for one in found if isinstance(one, Missing)),
    )


def find_gpus() -> list[Gpu]:
    """Return the GPUs that can be used; an error, if there are none."""
    found = survey_gpus()
    if not found.gpus:
        raise NvshareError(
            "no GPU of this machine can be used",
            why="; ".join(f"GPU {one.index}: {one.why}" for one in found.missing),
            do="check them with nvidia-smi; a GPU that is lost needs a reset or a reboot",
        )
    return list(found.gpus)


def look_again() -> Survey:
    """Ask NVML again. It stays open between calls."""
    import pynvml

    with contextlib.suppress(pynvml.NVMLError):
        open_nvml()
    return survey_gpus()


def _look(nvml: Any, index: int) -> Gpu | Missing:
    try:
        return _read(nvml, index)
    except nvml.NVMLError as error:
        return Missing(index, f"NVML: {error}")


def _read(nvml: Any, index: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    return Gpu(
        index=index,
        uuid=nvml.nvmlDeviceGetUUID(handle),
        name=nvml.nvmlDeviceGetName(handle),
        memory=_memory(nvml, handle),
    )


def _memory(nvml: Any, handle: Any) -> int:
    """Return the memory without the driver's own, which only the newer form of the call gives."""
    try:
        info = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        return int(info.total - info.reserved)
    except nvml.NVMLError:
        return int(nvml.nvmlDeviceGetMemoryInfo(handle).total)
