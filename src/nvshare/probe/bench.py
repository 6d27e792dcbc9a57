"""What a probe works with: driver, clock, NVML, the memory that it may use, and the readings."""

import contextlib
import ctypes
import os
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.lab.emulator.report import read_report
from nvshare.probe.clock import Clock
from nvshare.probe.driver import CudaError, Driver
from nvshare.probe.gpu import BLOCK, MIB, Gpu, Took
from nvshare.probe.host import memory_cgroup, read_memory
from nvshare.probe.nvml import Nvml
from nvshare.probe.readings import Readings
from nvshare.wire import environment

# The size of the memory to measure with, and the size for a quick run.
PIECE = 1 << 30
QUICK_PIECE = 64 * MIB


@dataclass
class Bench:
    """Everything that the probes share."""

    driver: Driver
    clock: Clock
    ordinal: int
    nvml: Nvml
    readings: Readings
    piece: int
    quick: bool = False
    # Costs are the median of several rounds, which varies less.
    rounds: int = field(default=3)

    @property
    def node(self) -> Path | None:
        """The folder of the emulated node, if this is one."""
        folder = os.environ.get(environment.EMULATOR_NODE)
        return Path(folder) if folder else None

    @property
    def device(self) -> int:
        """The GPU, as the driver calls it."""
        device = ctypes.c_int()
        self.driver.call("cuDeviceGet", ctypes.byref(device), self.ordinal)
        return device.value

    @contextlib.contextmanager
    def gpu(self, *, bare: bool = False) -> Iterator[Gpu]:
        """Yield a new context, and release it; a bare one has no code loaded yet."""
        gpu = Gpu(self.driver, self.clock, self.ordinal)
        try:
            if not bare:
                gpu.load()
            yield gpu
        finally:
            try:
                gpu.close()
            except CudaError:
                # After a sticky error of the context, only a reset gives a new one.
                self.driver.function("cuDevicePrimaryCtxReset_v2")(gpu.device)

    def timed(self, gpu: Gpu, stream: int, action: Callable[[], None]) -> Took:
        """Run an action in an idle stream; return how long the call and the work took."""
        with gpu.event() as before, gpu.event() as after:
            gpu.record(before, stream)
            began = self.clock.now()
            action()
            call = self.clock.now() - began
            gpu.record(after, stream)
            gpu.wait(stream)
            return Took(call, max(gpu.between(before, after), 1e-9))

    def note_took(self, name: str, took: Took, size: int) -> None:
        """Record how long a move took."""
        self.readings.note(f"{name}.call_s", took.call)
        self.readings.note(f"{name}.total_s", took.total)
        self.readings.note(f"{name}.gb_per_s", size / took.total / 1e9)

    def host_used(self) -> int | None:
        """Return host memory in use, from an arbitrary zero: only differences are meaningful.

        The host of an emulated GPU is emulated as well, and its node counts the memory.
        """
        if self.node is None:
            available = read_memory().available
            return None if available is None else -available
        return emulated_host_bytes(self.node, os.getpid())


def emulated_host_bytes(node: Path, pid: int) -> int | None:
    """Return the host memory of a process as an emulated node counts it, if it does."""
    try:
        process = read_report(node).process(pid)
    except (NvshareError, TypeError):
        # A report with unknown fields is of another version.
        return None
    if process is None:
        return 0
    own: int | None = getattr(process, "host_bytes", None)
    if own is not None:
        return own
    accounts = [getattr(account, "host_bytes", None) for account in process.gpus]
    counted = [number for number in accounts if number is not None]
    return sum(counted) if counted else None


def fitting_piece(free: int, wanted: int) -> int:
    """Return the size of the memory to measure with: less than wanted where there is little."""
    room = [wanted, free // 8]
    if os.environ.get(environment.EMULATOR_NODE) is None:
        host = read_memory()
        room += [host.available // 4] if host.available is not None else []
    group = memory_cgroup()
    if group is not None and (limit := group.limit()) is not None:
        room.append(max(0, limit - (group.usage() or 0)) // 4)
    return min(room) // BLOCK * BLOCK


def median(measure: Callable[[], float], rounds: int) -> float:
    """Return the median of several measurements."""
    return statistics.median(measure() for _ in range(rounds))
