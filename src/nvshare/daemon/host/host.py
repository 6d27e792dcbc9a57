"""This machine: how much host memory is for memory that leaves the GPUs, and the GPUs' time."""

import os
from collections.abc import Mapping
from pathlib import Path

from nvshare.daemon.host.cgroup import MemoryGroup, MemoryGroups, charges_pages
from nvshare.daemon.host.headroom import Reader, no_limits
from nvshare.daemon.host.hierarchy import PROC, MemoryHierarchy
from nvshare.errors import BadInputError
from nvshare.lab.emulator.emulated_node import host_bytes, keeps_data, node_speed
from nvshare.quantity import parse_quantity
from nvshare.wire import environment

# The most that a program on an emulated node may have on the host (docs/emulator.md).
_HOST_LIMIT = "NVSHARE_EMULATOR_HOST_LIMIT"
_REAL = "NVSHARE_EMULATOR_REAL_HOST"
_MEMINFO = Path("/proc/meminfo")
# The rest is for the programs themselves, which have not started yet.
_PERCENT = 80


def spare_memory(environ: Mapping[str, str], meminfo: Path = _MEMINFO) -> int:
    """Return how much of the free memory may be used.

    The host of emulated GPUs is emulated too: it takes nothing from this machine.
    """
    if node := environ.get(environment.EMULATOR_NODE):
        free = host_bytes(Path(node))
    else:
        free = _available(meminfo.read_text(encoding="ascii"))
    return free * _PERCENT // 100


def memory_limits(environ: Mapping[str, str], cgroups: str = "", proc: Path = PROC) -> Reader:
    """Return a function that finds the limits on a process's use of this machine's memory.

    In a container, ``cgroups`` is the folder at which the cgroups of the machine are mounted.
    """
    hierarchy = MemoryHierarchy(proc, Path(cgroups) if cgroups else None)
    if environ.get(environment.EMULATOR_NODE):
        # Emulated pages are charged to the innermost cgroup only; its ancestors bound the memory of
        # the real machine, and not that of the emulated host.
        groups = MemoryGroups(hierarchy, innermost_only=True)
        return lambda pids: {
            pid: _emulated_limit(pid, proc) or found for pid, found in groups(pids).items()
        }
    return MemoryGroups(hierarchy) if charges_pages(os.uname().release) else no_limits


def _emulated_limit(pid: int, proc: Path) -> list[MemoryGroup]:
    """Return the limit that a program on an emulated node was given in place of its cgroup's."""
    try:
        words = (proc / str(pid) / "environ").read_text(encoding="utf-8", errors="replace")
        names = dict(word.partition("=")[::2] for word in words.split("\0"))
        limit = names.get(_HOST_LIMIT)
        return [MemoryGroup(f"process {pid}", parse_quantity(limit), 0)] if limit else []
    except (OSError, BadInputError):
        return []


def populates(environ: Mapping[str, str]) -> bool:
    """Return whether host memory for memory that leaves the GPUs has real pages.

    On an emulated node without data it is only counted, unless the environment says otherwise.
    """
    node = environ.get(environment.EMULATOR_NODE)
    return not node or keeps_data(Path(node)) or environ.get(_REAL) == "1"


def gpu_clock(environ: Mapping[str, str]) -> float:
    """Return the seconds on the GPUs per second here; only emulated GPUs differ from 1."""
    node = environ.get(environment.EMULATOR_NODE)
    return node_speed(Path(node)) if node else 1.0


def _available(meminfo: str) -> int:
    """Return how much memory is available without swapping, as the kernel says."""
    for line in meminfo.splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    raise ValueError("there is no MemAvailable in /proc/meminfo")
