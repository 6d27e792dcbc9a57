"""Physical memory and addresses for it, for the bodies of tests."""

import ctypes
from importlib.resources import files
from typing import Any

GRAIN = 2 << 20
PTX = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()


def properties(cu: Any, *, device: int = 0, shared: bool = False) -> Any:
    wanted = cu.CUmemAllocationProp()
    wanted.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    wanted.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    wanted.location.id = device
    if shared:
        kind = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        wanted.requestedHandleTypes = kind
    return wanted


def access(cu: Any, *, device: int = 0, rights: str = "READWRITE") -> Any:
    wanted = cu.CUmemAccessDesc()
    wanted.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    wanted.location.id = device
    wanted.flags = getattr(cu.CUmemAccess_flags, f"CU_MEM_ACCESS_FLAGS_PROT_{rights}")
    return wanted


class Window:
    """Reserved addresses, to which memory is mapped and from which it is unmapped."""

    def __init__(self, cu: Any, size: int = GRAIN, *, device: int = 0, mapped: bool = True) -> None:
        self.cu, self.size, self.device = cu, size, device
        self.address = int(cu.cuMemAddressReserve(size, 0, 0, 0))
        self.handle: Any = None
        if mapped:
            self.come()

    def come(self, *, allowed: bool = True) -> None:
        """Give it new memory."""
        self.handle = self.cu.cuMemCreate(self.size, properties(self.cu, device=self.device), 0)
        self.cu.cuMemMap(self.address, self.size, 0, self.handle, 0)
        if allowed:
            self.allow(self.device)

    def allow(self, device: int, rights: str = "READWRITE") -> None:
        """Let a device reach it."""
        wanted = access(self.cu, device=device, rights=rights)
        self.cu.cuMemSetAccess(self.address, self.size, [wanted], 1)

    def go(self) -> None:
        """Take its memory away."""
        self.cu.cuMemUnmap(self.address, self.size)
        self.cu.cuMemRelease(self.handle)


class Launcher:
    """Named kernels in streams."""

    def __init__(self, cu: Any) -> None:
        self.cu = cu
        self.module = cu.cuModuleLoadData(PTX)

    def launch(self, name: str, stream: Any, *parameters: tuple[int, Any]) -> None:
        """Launch ``nvshare_<name>``, each parameter with its type."""
        function = self.cu.cuModuleGetFunction(self.module, b"nvshare_" + name.encode())
        values = tuple(value for value, _ in parameters)
        kinds = tuple(kind for _, kind in parameters)
        self.cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, (values, kinds), 0)

    def spin(self, stream: Any, microseconds: int) -> None:
        """Keep a stream busy."""
        self.launch("spin", stream, (microseconds, ctypes.c_uint64))

    def fill(self, stream: Any, address: int, value: int, count: int) -> None:
        """Write 32-bit words."""
        words = (address, ctypes.c_uint64), (value, ctypes.c_uint32), (count, ctypes.c_uint64)
        self.launch("fill_u32", stream, *words)
