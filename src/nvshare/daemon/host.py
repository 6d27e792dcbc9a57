"""This machine: how much of its memory may take what leaves the GPUs, and what time is on them."""

from collections.abc import Mapping
from pathlib import Path

from nvshare.emulator.node import host_bytes, node_speed
from nvshare.wire import environment

_MEMINFO = Path("/proc/meminfo")
# The rest is for the programs themselves, which have not begun yet.
_PERCENT = 80


def spare_memory(environ: Mapping[str, str], meminfo: Path = _MEMINFO) -> int:
    """Return what may be used of the memory that is free now.

    The host of emulated GPUs is emulated too: nothing is taken from this machine.
    """
    if node := environ.get(environment.EMULATOR_NODE):
        free = host_bytes(Path(node))
    else:
        free = _available(meminfo.read_text(encoding="ascii"))
    return free * _PERCENT // 100


def gpu_clock(environ: Mapping[str, str]) -> float:
    """Return how many seconds pass on the GPUs in one second here: only emulated ones differ."""
    node = environ.get(environment.EMULATOR_NODE)
    return node_speed(Path(node)) if node else 1.0


def _available(meminfo: str) -> int:
    """Return what the kernel says can be had without swapping."""
    for line in meminfo.splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    raise ValueError("there is no MemAvailable in /proc/meminfo")
