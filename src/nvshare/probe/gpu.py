"""One GPU with a context on it, as the probes use it.

Everything that is allocated is freed when its ``with`` block ends, even after an error: a probe
that fails leaves nothing behind for the next one.
"""

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias

from nvshare.probe.clock import Clock
from nvshare.probe.driver import ATTACH_GLOBAL, NON_BLOCKING, TO_CPU, Driver

MIB = 1 << 20
# The unit in which the driver moves and counts memory.
BLOCK = 2 * MIB

Argument: TypeAlias = ctypes.c_uint64 | ctypes.c_uint32

_SLOW_EVENT = 0
_SHORT_SHIELD_S = 0.005
_THREADS = 256


@dataclass(frozen=True)
class Took:
    """How long work took, in seconds: the call itself, and until the GPU had finished."""

    call: float
    total: float


class Gpu:
    """A device with its primary context, current in the thread that made it."""

    def __init__(self, driver: Driver, clock: Clock, ordinal: int) -> None:
        self.driver, self.clock = driver, clock
        device = ctypes.c_int()
        driver.call("cuDeviceGet", ctypes.byref(device), ordinal)
        self.device = device.value
        self.context = driver.handle("cuDevicePrimaryCtxRetain", self.device)
        self.make_current()
        self._module = 0
        self._functions: dict[str, int] = {}

    def close(self) -> None:
        """Release the context, with everything that is still in it."""
        self.driver.call("cuDevicePrimaryCtxRelease_v2", self.device)

    def make_current(self) -> None:
        """Make it current in this thread."""
        self.driver.call("cuCtxSetCurrent", self.context)

    def free_and_total(self) -> tuple[int, int]:
        """Return the result of cuMemGetInfo."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    @contextlib.contextmanager
    def managed(self, size: int) -> Iterator[int]:
        """Yield managed memory that begins at the beginning of a block."""
        address = self._allocate_managed(size)
        if address % BLOCK:
            # No driver is known to do so with large ones, but nothing guarantees that.
            self.driver.call("cuMemFree_v2", address)
            address = self._allocate_managed(size + BLOCK)
        try:
            yield -(-address // BLOCK) * BLOCK
        finally:
            self.driver.call("cuMemFree_v2", address)

    def _allocate_managed(self, size: int) -> int:
        address = ctypes.c_uint64()
        self.driver.call("cuMemAllocManaged", ctypes.byref(address), size, ATTACH_GLOBAL)
        return address.value

    @contextlib.contextmanager
    def plain(self, size: int) -> Iterator[int]:
        """Yield ordinary device memory."""
        address = ctypes.c_uint64()
        self.driver.call("cuMemAlloc_v2", ctypes.byref(address), size)
        try:
            yield address.value
        finally:
            self.driver.call("cuMemFree_v2", address)

    @contextlib.contextmanager
    def pinned(self, size: int) -> Iterator[int]:
        """Yield page-locked host memory, which copies reach directly."""
        address = self.driver.handle("cuMemHostAlloc", size, 0)
        try:
            yield address
        finally:
            self.driver.call("cuMemFreeHost", address)

    @contextlib.contextmanager
    def stream(self) -> Iterator[int]:
        """Yield a non-blocking stream."""
        stream = self.driver.handle("cuStreamCreate", NON_BLOCKING)
        try:
            yield stream
        finally:
            self.driver.call("cuStreamDestroy_v2", stream)

    @contextlib.contextmanager
    def event(self, flags: int = _SLOW_EVENT) -> Iterator[int]:
        """Yield an event."""
        event = self.driver.handle("cuEventCreate", flags)
        try:
            yield event
        finally:
            self.driver.call("cuEventDestroy_v2", event)

    def record(self, event: int, stream: int) -> None:
        """Record an event."""
        self.driver.call("cuEventRecord", event, stream)

    def wait(self, stream: int) -> None:
        """Wait for all work of a stream."""
        self.driver.call("cuStreamSynchronize", stream)

    def between(self, first: int, second: int) -> float:
        """Return the seconds between two events, as the GPU saw them."""
        milliseconds = ctypes.c_float()
        self.driver.call("cuEventElapsedTime", ctypes.byref(milliseconds), first, second)
        return milliseconds.value / 1e3

    def prefetch(self, address: int, size: int, stream: int, *, out: bool = False) -> None:
        """Prefetch memory to this GPU, or out to the host."""
        target = TO_CPU if out else self.device
        self.driver.call("cuMemPrefetchAsync", address, size, target, stream)

    def load(self) -> None:
        """Load all code and run it once: a driver compiles it, as late as it can."""
        with self.stream() as stream, self.plain(16) as memory:
            self.write(memory, 8, stream)
            self.count_wrong(memory, 8, memory + 8, stream)
            self.spin(0, stream)
            self.wait(stream)

    def function(self, name: str) -> int:
        """Return one of the kernels that come with nvshare."""
        if not self._module:
            code = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()
            self._module = self.driver.handle("cuModuleLoadData", code)
        if name not in self._functions:
            made = self.driver.handle("cuModuleGetFunction", self._module, name.encode())
            self._functions[name] = made
        return self._functions[name]

    def launch(self, name: str, arguments: Sequence[Argument], stream: int, blocks: int) -> None:
        """Launch a kernel."""
        parameters = parameter_list(arguments)
        shape = (blocks, 1, 1, _THREADS, 1, 1, 0)
        self.driver.call("cuLaunchKernel", self.function(name), *shape, stream, parameters, None)

    def write(self, address: int, size: int, stream: int, seed: int = 1) -> None:
        """Have a kernel write a pattern over memory."""
        words = (ctypes.c_uint64(address), ctypes.c_uint64(size // 8), ctypes.c_uint64(seed))
        self.launch("nvshare_pattern_u64", words, stream, _blocks(size))

    def count_wrong(self, address: int, size: int, out: int, stream: int, seed: int = 1) -> None:
        """Have a kernel read memory, and add the words that are not as written to ``*out``."""
        numbers = (address, size // 8, seed, out)
        words = [ctypes.c_uint64(number) for number in numbers]
        self.launch("nvshare_count_mismatches_u64", words, stream, _blocks(size))

    def spin(self, seconds: float, stream: int) -> None:
        """Keep the GPU busy with one small kernel."""
        microseconds = [ctypes.c_uint64(round(seconds * 1e6))]
        self.launch("nvshare_spin", microseconds, stream, 1)

    def shield(self, stream: int, real_seconds: float = 0.05) -> None:
        """Keep a stream busy while work is queued behind, which then runs without a gap."""
        self.spin(real_seconds * self.clock.speed, stream)

    def kernel_seconds(self, stream: int, launch: Callable[[], None]) -> float:
        """Return how long the kernel alone takes."""
        with self.event() as before, self.event() as after:
            self.shield(stream, _SHORT_SHIELD_S)
            self.record(before, stream)
            launch()
            self.record(after, stream)
            self.wait(stream)
            return max(self.between(before, after), 1e-9)

    def read_number(self, address: int) -> int:
        """Return a 64-bit number in GPU memory."""
        number = ctypes.c_uint64()
        self.driver.call("cuMemcpyDtoH_v2", ctypes.byref(number), address, 8)
        return number.value


def parameter_list(arguments: Sequence[Argument]) -> "ctypes.Array[ctypes.c_void_p]":
    """Return the parameters for cuLaunchKernel: pointers to arguments, which must outlive them."""
    pointers = [ctypes.cast(ctypes.byref(one), ctypes.c_void_p) for one in arguments]
    made = (ctypes.c_void_p * len(pointers))(*pointers)
    made._arguments = list(arguments)  # type: ignore[attr-defined]  # noqa: SLF001
    return made


def _blocks(size: int) -> int:
    # Enough threads to keep any GPU's memory busy; each of them handles several words.
    return max(1, min(2048, size // (8 * _THREADS)))
