"""The kernels that come with nvshare: they compute the same on an emulated GPU as on a real one."""

import ctypes
from importlib.resources import files
from typing import Any

from checked import ok
from cuda.bindings import driver as cu

_PARAMETERS = {
    "nvshare_fill_f32": (ctypes.c_uint64, ctypes.c_float, ctypes.c_uint64),
    "nvshare_fill_u32": (ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint64),
    "nvshare_add_f32": (ctypes.c_uint64,) * 4,
    "nvshare_sum_u32": (ctypes.c_uint64,) * 3,
    "nvshare_checksum": (ctypes.c_uint64,) * 3,
    "nvshare_pattern_u64": (ctypes.c_uint64,) * 3,
    "nvshare_count_mismatches_u64": (ctypes.c_uint64,) * 4,
    "nvshare_spin": (ctypes.c_uint64,),
}


def source() -> bytes:
    """Return the PTX, ready for the driver."""
    return (files("nvshare.lab.emulator") / "kernels.ptx").read_bytes() + b"\0"


class Kernels:
    """The module in the current context."""

    def __init__(self) -> None:
        self.module = ok(cu.cuModuleLoadData(source()))

    def function(self, name: str) -> Any:
        """Return a kernel's handle."""
        return ok(cu.cuModuleGetFunction(self.module, f"nvshare_{name}".encode()))

    def arguments(self, name: str, *values: Any) -> Any:
        """Return a kernel's arguments in the form the bindings want."""
        types = _PARAMETERS[f"nvshare_{name}"]
        plain = [value if isinstance(value, float) else int(value) for value in values]
        return (tuple(plain), types)

    def launch(self, name: str, *values: Any, stream: Any = 0) -> None:
        """Launch on 32 blocks of 256 threads, which is as good as any other shape."""
        arguments = self.arguments(name, *values)
        ok(cu.cuLaunchKernel(self.function(name), 32, 1, 1, 256, 1, 1, 0, stream, arguments, 0))


def number(address: Any) -> int:
    """Return the 64-bit number at an address on the GPU."""
    value = ctypes.c_uint64()
    ok(cu.cuMemcpyDtoH(ctypes.addressof(value), address, 8))
    return value.value
