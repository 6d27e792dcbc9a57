"""The state of an emulated node, beyond the data of NVML. For tests, benchmarks and tools.

The native library writes the report (``lab/emulator/nvml/report.c``); here it becomes values.
Any node can be read by its folder, even if this process is on another node.
"""

import ctypes
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nvshare.errors import NvshareError
from nvshare.lab.emulator.libraries import NVML, library_folder

_SUCCESS = 0
_INSUFFICIENT_SIZE = 7
_FIRST_GUESS_BYTES = 16384


@dataclass(frozen=True)
class GpuReport:
    """One GPU. Times are emulated nanoseconds; counters count since the node began.

    The moved bytes are managed memory that changed its place, by prefetch, fault or eviction, with
    the time that this took; ``in_bytes`` and ``out_bytes`` are all bytes on the bus. Chunks are
    memory of the GPU that blocks have, even blocks that have left it; the surplus waits for more
    blocks. Reclaims are chunks that were taken from blocks which had left. Memory being scrubbed is
    free, but not zero yet. Stolen memory belongs to no process on the node.
    """

    index: int
    uuid: str
    clock: int
    plain_bytes: int
    context_bytes: int
    resident_blocks: int
    chunks: int
    surplus_bytes: int
    free_bytes: int
    scrubbing_bytes: int
    stolen_bytes: int
    switches: int
    faults: int
    evictions: int
    reclaims: int
    cancelled: int
    in_bytes: int
    out_bytes: int
    moved_in_bytes: int
    moved_out_bytes: int
    moving_ns: int
    busy_ns: int


@dataclass(frozen=True)
class Account:
    """The part of one GPU that one process has and has used."""

    plain_bytes: int
    contexts: int
    context_bytes: int
    resident_bytes: int
    chunk_bytes: int
    compute_ns: int
    fault_ns: int
    in_bytes: int
    out_bytes: int
    kernels: int


@dataclass(frozen=True)
class ProcessReport:
    """One process on the node, with an account for every GPU.

    ``host_bytes`` are the host pages of its managed memory, which it keeps as long as the memory.
    The counts are resources that it has not given back: handles of physical memory, each as often
    as it has to be released; mappings; reserved addresses; registered and allocated host memory.
    """

    pid: int
    name: str
    host_bytes: int
    handles: int
    mappings: int
    reservations: int
    registrations: int
    host_allocations: int
    gpus: tuple[Account, ...]


@dataclass(frozen=True)
class Report:
    """A whole node at one moment. ``difference`` names a wrong count; None: all are right."""

    clock_ns: int
    speed: float
    deaths: int
    recoveries: int
    host_bytes: int
    difference: str | None
    gpus: tuple[GpuReport, ...]
    processes: tuple[ProcessReport, ...]

    def process(self, pid: int) -> ProcessReport | None:
        """Return the process with that number, if it is on the node."""
        return next((process for process in self.processes if process.pid == pid), None)


def read_report(folder: Path, libraries: Path | None = None) -> Report:
    """Read the node in a folder, now."""
    if not (folder / "node.conf").is_file():
        raise NvshareError(
            f"there is no emulated node in {folder}",
            why="it has no node.conf",
            do="give the folder of a node; `nvshare emulate ls` lists the nodes",
        )
    library = ctypes.CDLL(str((libraries or library_folder()) / NVML))
    return _parse(json.loads(_read_text(library, folder)))


def _read_text(library: ctypes.CDLL, folder: Path) -> bytes:
    size = ctypes.c_uint(_FIRST_GUESS_BYTES)
    while True:
        buffer = ctypes.create_string_buffer(size.value)
        result = library.nvshareEmulatorReport(os.fsencode(folder), buffer, ctypes.byref(size))
        if result == _SUCCESS:
            return buffer.value
        if result != _INSUFFICIENT_SIZE:
            raise NvshareError(
                f"the emulated node in {folder} cannot be read",
                why=f"the library answered with error {result}, and printed the reason to stderr",
                do="check that the node belongs to you and was started by this version of nvshare",
            )
        # A process may join between two calls, so even this size may be too small.
        size.value *= 2


def _parse(node: dict[str, Any]) -> Report:
    gpus = tuple(GpuReport(**gpu) for gpu in node.pop("gpus"))
    processes = tuple(_parse_process(process) for process in node.pop("processes"))
    return Report(**node, gpus=gpus, processes=processes)


def _parse_process(process: dict[str, Any]) -> ProcessReport:
    accounts = tuple(Account(**account) for account in process.pop("gpus"))
    return ProcessReport(**process, gpus=accounts)
