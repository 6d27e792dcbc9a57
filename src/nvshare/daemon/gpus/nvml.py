"""NVML: opened once, and asked about one GPU at a time. What to ask is up to others."""

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any


class LostGpuError(OSError):
    """The GPU is lost. It may come back, and tell again."""


@cache
def open_nvml() -> None:
    """Open NVML, which stays open: this takes long on some machines."""
    import pynvml

    pynvml.nvmlInit()


@contextlib.contextmanager
def ask_nvml(uuid: str) -> Iterator[tuple[Any, Any]]:
    """Give NVML, and its handle of a GPU. Any error is an OSError: this GPU does not tell."""
    import pynvml

    try:
        open_nvml()
        yield pynvml, pynvml.nvmlDeviceGetHandleByUUID(uuid)
    except pynvml.NVMLError_GpuIsLost as error:
        raise LostGpuError(str(error)) from error
    except pynvml.NVMLError as error:
        raise OSError(str(error)) from error
