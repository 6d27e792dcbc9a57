"""Launches kernels through libcudart, the CUDA runtime, where one can load code by itself."""

import ctypes
import sysconfig
from ctypes import c_char_p, c_size_t, c_uint, c_uint64, c_void_p
from importlib.resources import files
from pathlib import Path

from nvshare.probe.gpu import parameter_list
from nvshare.probe.readings import Unavailable

_NAMES = ("libcudart.so.13", "libcudart.so.12")
_NEEDED = "cudaLibraryLoadData"


class _Dim3(ctypes.Structure):
    _fields_ = (("x", c_uint), ("y", c_uint), ("z", c_uint))


class Runtime:
    """A CUDA runtime."""

    def __init__(self, library: ctypes.CDLL, path: str) -> None:
        self._library, self.path = library, path

    @staticmethod
    def find() -> "Runtime":
        """Return the runtime that a program would get, or one of an installed package."""
        too_old = []
        for path in (*_NAMES, *_installed()):
            try:
                library = ctypes.CDLL(path)
            except OSError:
                continue
            if hasattr(library, _NEEDED):
                return Runtime(library, path)
            too_old.append(path)
        if too_old:
            raise Unavailable(f"{too_old[0]} is older than 12.8, and takes no code from a program")
        raise Unavailable("there is no libcudart here (the package nvidia-cuda-runtime has one)")

    def launch(self, count: int) -> None:
        """Launch a kernel that does nothing, this many times."""
        library, kernel = c_void_p(), c_void_p()
        code = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()
        none = [None, None, c_uint(0)]
        self._call("cudaLibraryLoadData", ctypes.byref(library), code, *none, *none)
        self._call("cudaLibraryGetKernel", ctypes.byref(kernel), library, c_char_p(b"nvshare_spin"))
        parameters = parameter_list([c_uint64(0)])
        grid, block = _Dim3(1, 1, 1), _Dim3(32, 1, 1)
        for _ in range(count):
            self._call("cudaLaunchKernel", kernel, grid, block, parameters, c_size_t(0), None)
        self._call("cudaDeviceSynchronize")
        self._call("cudaLibraryUnload", library)

    def _call(self, name: str, *arguments: object) -> None:
        if code := getattr(self._library, name)(*arguments):
            raise Unavailable(f"{name} of {self.path} answers {code}")


def _installed() -> list[str]:
    folder = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    return sorted(str(path) for path in folder.glob("*/lib/libcudart.so.1[23]"))[::-1]
