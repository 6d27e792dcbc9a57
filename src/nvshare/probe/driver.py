"""The few functions of the CUDA driver that the probes call, by ctypes. A call that fails raises.

No package of bindings: they are larger than all of nvshare, and a user who sends a report should
install nothing. Names are those of the symbols in libcuda.so.1, whose meaning never changes;
``cuMemPrefetchAsync`` is the first version, which takes the number of a device.
"""

import ctypes
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any, TypeAlias

LIBRARY = "libcuda.so.1"
TO_CPU = -1
NOT_READY = 600
NO_TIMING = 2
NON_BLOCKING = 1
ATTACH_GLOBAL = 1

Function: TypeAlias = Callable[..., int]
Shape: TypeAlias = tuple[int, int, int]

_OUT = POINTER(c_void_p)
SIGNATURES: dict[str, list[Any]] = {
    "cuInit": [c_uint],
    "cuDriverGetVersion": [POINTER(c_int)],
    "cuDeviceGet": [POINTER(c_int), c_int],
    "cuDeviceGetCount": [POINTER(c_int)],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceGetAttribute": [POINTER(c_int), c_int, c_int],
    "cuDeviceGetUuid": [c_char_p, c_int],
    "cuDeviceGetUuid_v2": [c_char_p, c_int],
    "cuDeviceGetPCIBusId": [c_char_p, c_int, c_int],
    "cuDevicePrimaryCtxRetain": [_OUT, c_int],
    "cuDevicePrimaryCtxRelease_v2": [c_int],
    "cuDevicePrimaryCtxReset_v2": [c_int],
    "cuCtxSetCurrent": [c_void_p],
    "cuCtxSynchronize": [],
    "cuMemGetInfo_v2": [POINTER(c_size_t), POINTER(c_size_t)],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemAllocManaged": [POINTER(c_uint64), c_size_t, c_uint],
    "cuMemFree_v2": [c_uint64],
    "cuMemHostAlloc": [_OUT, c_size_t, c_uint],
    "cuMemFreeHost": [c_void_p],
    "cuMemcpyHtoDAsync_v2": [c_uint64, c_void_p, c_size_t, c_void_p],
    "cuMemcpyDtoHAsync_v2": [c_void_p, c_uint64, c_size_t, c_void_p],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuMemsetD8Async": [c_uint64, ctypes.c_ubyte, c_size_t, c_void_p],
    "cuMemPrefetchAsync": [c_uint64, c_size_t, c_int, c_void_p],
    "cuMemAddressReserve": [POINTER(c_uint64), c_size_t, c_size_t, c_uint64, c_uint64],
    "cuMemAddressFree": [c_uint64, c_size_t],
    "cuMemCreate": [POINTER(c_uint64), c_size_t, c_void_p, c_uint64],
    "cuMemRelease": [c_uint64],
    "cuMemMap": [c_uint64, c_size_t, c_size_t, c_uint64, c_uint64],
    "cuMemUnmap": [c_uint64, c_size_t],
    "cuMemSetAccess": [c_uint64, c_size_t, c_void_p, c_size_t],
    "cuModuleLoadData": [_OUT, c_char_p],
    "cuModuleUnload": [c_void_p],
    "cuModuleGetFunction": [_OUT, c_void_p, c_char_p],
    "cuLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p],
    "cuStreamCreate": [_OUT, c_uint],
    "cuStreamDestroy_v2": [c_void_p],
    "cuStreamSynchronize": [c_void_p],
    "cuStreamWaitEvent": [c_void_p, c_void_p, c_uint],
    "cuStreamBeginCapture_v2": [c_void_p, c_int],
    "cuStreamEndCapture": [c_void_p, _OUT],
    "cuGraphInstantiateWithFlags": [_OUT, c_void_p, ctypes.c_ulonglong],
    "cuGraphLaunch": [c_void_p, c_void_p],
    "cuGraphExecDestroy": [c_void_p],
    "cuGraphDestroy": [c_void_p],
    "cuEventCreate": [_OUT, c_uint],
    "cuEventDestroy_v2": [c_void_p],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventQuery": [c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuEventElapsedTime": [POINTER(c_float), c_void_p, c_void_p],
}


_PINNED = 1
_ON_DEVICE = 1
_READ_AND_WRITE = 3


class PhysicalMemory(ctypes.Structure):
    """CUmemAllocationProp: the kind of memory to create."""

    _fields_ = (
        ("type", c_int),
        ("requested_handle_types", c_int),
        ("location_type", c_int),
        ("location_id", c_int),
        ("win32_meta_data", c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class Access(ctypes.Structure):
    """CUmemAccessDesc: which device may use it."""

    _fields_ = (("location_type", c_int), ("location_id", c_int), ("flags", c_int))


def physical_memory_of(device: int) -> PhysicalMemory:
    """Describe plain memory of a GPU."""
    return PhysicalMemory(type=_PINNED, location_type=_ON_DEVICE, location_id=device)


def access_of(device: int) -> Access:
    """Describe read and write access of a GPU."""
    return Access(_ON_DEVICE, device, _READ_AND_WRITE)


class CudaError(Exception):
    """A call of the driver that failed."""

    def __init__(self, function: str, code: int, name: str) -> None:
        super().__init__(f"{function} answers {name} ({code})")
        self.code = code


class NoDriverError(Exception):
    """There is no driver that can be loaded."""


class Driver:
    """libcuda.so.1."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise NoDriverError(str(error)) from error

    def function(self, name: str) -> Function:
        """Return the bare function, for callers that call it very often or expect it to fail."""
        function = getattr(self._library, name)
        function.argtypes = SIGNATURES[name]
        function.restype = c_int
        found: Function = function
        return found

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that has to succeed."""
        try:
            function = self.function(name)
        except AttributeError as error:
            raise CudaError(name, -1, "that this driver has no such function") from error
        if code := function(*arguments):
            raise CudaError(name, code, self._name_of(code))

    def handle(self, name: str, *arguments: Any) -> int:
        """Call a function that creates an object; return its handle."""
        made = c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made.value or 0

    def _name_of(self, code: int) -> str:
        name = c_char_p()
        self._library.cuGetErrorName(code, ctypes.byref(name))
        return name.value.decode() if name.value else "an unknown error"
