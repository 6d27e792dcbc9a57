"""Emulated GPUs for one test: started, broken, and read. The value of the pytest plugin's fixture.

The environment puts a program on the node, so it is for programs that the test starts. The process
of the test itself has its libraries already, and is not on the node.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nvshare.errors import BadInputError
from nvshare.lab.emulator.conf import Data, Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.fault import XID_LOST, refuse_answers, set_fault, steal_memory
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import GpuReport, Report, read_report
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.quantity import parse_quantity

_FAIL = "NVSHARE_EMULATOR_FAIL"
_LEAKS = "NVSHARE_EMULATOR_LEAKS"


@dataclass(frozen=True)
class Ended:
    """A program that has ended: its leaks, and the number of calls that were made to fail.

    The leaks are handles of physical memory, mappings, reserved addresses, registered and
    allocated host memory. A program that was killed leaves no such line.
    """

    pid: int
    handles: int
    mappings: int
    reservations: int
    registrations: int
    host_allocations: int
    injected: int


@dataclass
class EmulatedGpus:
    """The GPUs of a test. ``environment`` puts a program on them."""

    node: Node
    environment: dict[str, str]
    _leaks: Path
    _set: Callable[[str, str], None]

    def run(
        self,
        command: Sequence[str | Path],
        *,
        check: bool = True,
        timeout: float = 60,
        **options: Any,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program on the GPUs to its end. Takes the options of subprocess.run.

        Its output is captured as text.
        """
        options = {"text": True, "capture_output": True, **options}
        return subprocess.run(command, check=check, timeout=timeout, **options)

    def fault(self, gpu: int = 0, xid: int = XID_LOST, *, needs_reset: bool = True) -> None:
        """Give a GPU an XID, which only NVML shows. With the default, NVML calls it lost."""
        set_fault(self.node, gpu, xid, needs_reset=needs_reset)

    def refuse(self, gpu: int = 0) -> None:
        """Let NVML answer NOT_SUPPORTED to every query of a GPU."""
        refuse_answers(self.node, gpu, refuses=True)

    def steal(self, size: int | str, gpu: int = 0) -> None:
        """Let an outsider hold so much of a GPU's memory, such as "10Gi"."""
        steal_memory(self.node, gpu, parse_quantity(size) if isinstance(size, str) else size)

    def heal(self, gpu: int = 0) -> None:
        """Repair a GPU, and give back memory that was stolen."""
        set_fault(self.node, gpu, 0, needs_reset=False)
        refuse_answers(self.node, gpu, refuses=False)
        steal_memory(self.node, gpu, 0)

    def fail_calls(self, calls: str) -> None:
        """Let calls of the driver fail, in programs that are started from now on.

        Such as "create/3=2", every third cuMemCreate with error 2; "" ends it. All forms are in
        the description of NVSHARE_EMULATOR_FAIL.
        """
        self.environment[_FAIL] = calls
        self._set(_FAIL, calls)

    def read(self) -> Report:
        """Return the state of the node now."""
        return read_report(self.node.folder)

    def gpu(self, index: int = 0) -> GpuReport:
        """Return the counters of one GPU since the test began."""
        return self.read().gpus[index]

    def ended(self) -> list[Ended]:
        """Return the programs that have used the GPUs and have ended, in that order."""
        lines = self._leaks.read_text(encoding="ascii").splitlines() if self._leaks.exists() else []
        return [Ended(**json.loads(line)) for line in lines]


@contextmanager
def start(
    scratch: Path,
    set_variable: Callable[[str, str], None],
    gpus: str = "t4",
    speed: float = 1.0,
    data: Data = "on",
    host_memory: str = "256Gi",
) -> Iterator[EmulatedGpus]:
    """Create GPUs for the length of the block, for all programs that are started in it.

    The caller sets variables of this process, and restores them. Files are kept in ``scratch``.
    """
    settings = Settings(_speed(speed), _data(data), parse_quantity(host_memory))
    leaks = scratch / "ended.jsonl"
    with transient_node(node_root(), settings, parse_gpus(gpus)) as node:
        environment = node.environment(library_folder(), os.environ) | {_LEAKS: str(leaks)}
        for name, value in environment.items():
            set_variable(name, value)
        yield EmulatedGpus(node, environment, leaks, set_variable)


def _speed(speed: object) -> float:
    # A marker's arguments are written by users.
    if not isinstance(speed, int | float) or not 0.001 <= speed <= 1_000_000:
        raise BadInputError(
            f"{speed!r} is not a speed",
            why="speed is the number of emulated seconds per real second, 0.001 to 1,000,000",
            do="write a number, such as 100",
        )
    return float(speed)


def _data(data: Data) -> Data:
    if data not in ("on", "off"):
        raise BadInputError(
            f"{data!r} is not a value of data",
            why='data says whether GPU memory keeps its contents: "on" or "off"',
            do='write one of them: "off" takes no memory of this machine',
        )
    return data
