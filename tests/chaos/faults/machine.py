"""Faults of the machine: disks that are full, and a memory cgroup that is. All are our own."""

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..excuses import EVERY_GPU, MEMORY
from ..plan import Fault
from ..stage import SHM, Stage

# With these, whoever runs the campaign has to be able to mount file systems.
NEED_MOUNTS = {"full-disk", "full-shm"}
_PIECE = 4096


def full_disk(stage: Stage, fault: Fault) -> None:
    """There is no room for what the daemon keeps for the next one."""
    with _full(stage.private):
        time.sleep(fault.seconds)


def full_shm(stage: Stage, fault: Fault) -> None:
    """There is no room in /dev/shm."""
    del stage
    with _full(SHM):
        time.sleep(fault.seconds)


def small_cgroup(stage: Stage, fault: Fault) -> None:
    """The daemon's memory cgroup has little left for what leaves the GPUs explicitly."""
    cgroup = stage.supervisor.cgroup
    assert cgroup is not None
    with stage.excuses.holding(MEMORY, EVERY_GPU, and_then=3.0), cgroup.limited(int(fault.value)):
        time.sleep(fault.seconds)


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
