"""What a probe has at hand: driver, clock, NVML, how much memory it may use, where results go."""

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

# What things are tried with, and what they are tried with in a hurry.
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
    # A cost in a table of many is less wrong when it is the median of several.
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
        """Give a context of its own, and take it back; a bare one has no code in it yet."""
        gpu = Gpu(self.driver, self.clock, self.ordinal)
        try:
            if not bare:
                gpu.load()
            yield gpu
        finally:
            try:
                gpu.close()
            except CudaError:
                # After an error that sticks to the context, only this gives a new one.
                self.driver.function("cuDevicePrimaryCtxReset_v2")(gpu.device)

    def timed(self, gpu: Gpu, stream: int, action: Callable[[], None]) -> Took:
        """Do something in an idle stream; return how long the call and the work took."""
        with gpu.event() as before, gpu.event() as after:
            gpu.record(before, stream)
            began = self.clock.now()
            action()
            call = self.clock.now() - began
            gpu.record(after, stream)
            gpu.wait(stream)
            return Took(call, max(gpu.between(before, after), 1e-9))

    def note_took(self, name: str, took: Took, size: int) -> None:
        """Write down how long it took to move something."""
        self.readings.note(f"{name}.call_s", took.call)
        self.readings.note(f"{name}.total_s", took.total)
        self.readings.note(f"{name}.gb_per_s", size / took.total / 1e9)

    def host_used(self) -> int | None:
        """Return host memory in use, from some zero on: only differences mean anything.

        The host of an emulated GPU is emulated as well, and its node knows what is there.
        """
        if self.node is None:
            available = read_memory().available
            return None if available is None else -available
        return emulated_host_bytes(self.node, os.getpid())


def emulated_host_bytes(node: Path, pid: int) -> int | None:
    """Return what an emulated node counts as host memory of a process, if it does count that."""
    try:
        process = read_report(node).process(pid)
    except (NvshareError, TypeError):
        # A report that has more to tell than we know is of another version.
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
    """Return how much memory to try things with: less than wanted where there is little."""
    room = [wanted, free // 8]
    if os.environ.get(environment.EMULATOR_NODE) is None:
        host = read_memory()
        room += [host.available // 4] if host.available is not None else []
    group = memory_cgroup()
    if group is not None and (limit := group.limit()) is not None:
        room.append(max(0, limit - (group.usage() or 0)) // 4)
    return min(room) // BLOCK * BLOCK


def median(measure: Callable[[], float], rounds: int) -> float:
    """Return the middle one of several measurements."""
    return statistics.median(measure() for _ in range(rounds))
