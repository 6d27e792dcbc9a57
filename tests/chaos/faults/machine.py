"""Faults of the machine: full disks, cgroups and memory. All are the campaign's own."""

import errno
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..excuses import EVERY_GPU, MEMORY
from ..plan import Fault
from ..stage import SHM, Stage
from .daemon import without_daemon

# These need permission to mount file systems.
NEED_MOUNTS = {"full-disk", "full-shm", "exhausted-host"}
# These need permission to make memory cgroups.
NEED_CGROUPS = {"small-cgroup", "small-program-cgroup", "exhausted-host"}
MEMINFO = Path("/proc/meminfo")
# A daemon leaves 64 of them alone.
_LEAST_MIB = 80
# The most that a program of the campaign has on an emulated GPU.
_MOST_EXPLICIT_MIB = 192
_PIECE = 4096


def full_disk(stage: Stage, fault: Fault) -> None:
    """There is no room for the files that the daemon keeps for the next one."""
    with _full(stage.private):
        time.sleep(fault.seconds)


def full_shm(stage: Stage, fault: Fault) -> None:
    """There is no room in /dev/shm."""
    del stage
    with _full(SHM):
        time.sleep(fault.seconds)


def small_cgroup(stage: Stage, fault: Fault) -> None:
    """The daemon's memory cgroup has little left for explicit memory that leaves the GPUs."""
    cgroup = stage.supervisor.cgroup
    assert cgroup is not None
    with (
        stage.excuses.holding(MEMORY, EVERY_GPU, and_then=3.0),
        cgroup.limited(int(fault.value), is_more=True),
    ):
        time.sleep(fault.seconds)


def small_program_cgroup(stage: Stage, fault: Fault) -> None:
    """A program's memory cgroup is too small for all of its managed memory to leave the GPU.

    The program's own memory fits: with data, the memory of emulated GPUs is charged to the cgroup
    too. Explicit memory then counts twice while it moves, which it would not on a real GPU.
    """
    program = stage.program(fault.target)
    assert program.cgroup is not None
    on_gpu = _MOST_EXPLICIT_MIB if program.role.allocation == "explicit" else 0
    with (
        stage.excuses.holding(MEMORY, *program.role.gpus, and_then=3.0),
        program.cgroup.limited(int(fault.value) + on_gpu, is_more=False),
    ):
        time.sleep(fault.seconds)


def exhausted_host(stage: Stage, fault: Fault) -> None:
    """The machine has no memory left as the daemon is killed.

    Programs see it in /proc/meminfo, and find no host memory of their own. The next daemon has a
    cgroup that is nearly full.
    """
    cgroup = stage.supervisor.cgroup
    assert cgroup is not None
    with (
        without_daemon(stage),
        _available_memory(stage, int(fault.value)),
        cgroup.limited(_LEAST_MIB, is_more=True),
    ):
        stage.supervisor.kill(fault.seconds / 2)
        time.sleep(fault.seconds)
        stage.supervisor.wait_until_it_answers()


@contextmanager
def _available_memory(stage: Stage, mib: int) -> Iterator[None]:
    """Have the kernel report only so much available memory, in our mount namespace only."""
    text = re.sub(
        r"(?m)^(MemAvailable|MemFree):.*", rf"\1: {mib << 10} kB", MEMINFO.read_text("ascii")
    )
    file = stage.folder / "meminfo"
    file.write_text(text, encoding="ascii")
    subprocess.run(["/usr/bin/mount", "--bind", file, MEMINFO], check=True)
    try:
        yield
    finally:
        subprocess.run(["/usr/bin/umount", MEMINFO], check=True)


@contextmanager
def _full(folder: Path) -> Iterator[None]:
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(_PIECE)):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        yield
    finally:
        filler.unlink()
