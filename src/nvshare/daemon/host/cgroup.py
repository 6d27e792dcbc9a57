"""The memory cgroups of a process: their limits and their use. Reads; decides nothing.

Both version 1 and version 2 of the kernel's control groups: the one that has the memory controller
counts. A limit holds for everything below it, so every cgroup on the way up counts.
"""

import logging
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nvshare.daemon.host.hierarchy import MemoryHierarchy, Place, UnknownPlaceError
from nvshare.daemon.logs import fields

log = logging.getLogger("nvshare.headroom")

# Version 1 has at least this value if there is no limit; it is rounded down to pages.
_NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """A memory cgroup that has a limit.

    ``used`` excludes clean file pages, which the kernel drops before it kills any process.
    """

    name: str
    limit: int
    used: int


@dataclass(frozen=True, slots=True)
class _Version:
    """The names of the files."""

    limit: str
    usage: str
    # Fields of memory.stat.
    files: tuple[str, ...]
    dirty: tuple[str, ...]


_ONE = _Version(
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    ("total_inactive_file", "total_active_file"),
    ("total_dirty", "total_writeback"),
)
_TWO = _Version(
    "memory.max",
    "memory.current",
    ("inactive_file", "active_file"),
    ("file_dirty", "file_writeback"),
)


_VERSIONS = {1: _ONE, 2: _TWO}


class MemoryGroups:
    """Looks up memory cgroups. A limit that cannot be found is unknown, and logged once.

    With ``innermost_only``, the ancestors of a process's cgroup do not count.
    """

    def __init__(
        self, hierarchy: MemoryHierarchy | None = None, *, innermost_only: bool = False
    ) -> None:
        self._hierarchy = hierarchy or MemoryHierarchy()
        self._innermost_only = innermost_only
        self._told: set[str] = set()

    def __call__(self, pids: Iterable[int]) -> dict[int, list[MemoryGroup]]:
        """Return the memory cgroups with a limit that processes are in, from the inside outwards.

        A process that is gone has none. A cgroup that is being removed is left out. A cgroup of
        several processes is read once.
        """
        known: dict[Path, MemoryGroup | None] = {}
        places = {pid: self._find(pid) for pid in pids}
        return {pid: self._limited(place, known) if place else [] for pid, place in places.items()}

    def _limited(self, place: Place, known: dict[Path, MemoryGroup | None]) -> list[MemoryGroup]:
        outwards = [place.folder, *place.folder.parents]
        seen = 1 if self._innermost_only else outwards.index(place.top) + 1
        for folder in outwards[:seen]:
            if folder not in known:
                known[folder] = _read(_VERSIONS[place.version], folder)
        return [group for folder in outwards[:seen] if (group := known[folder])]

    def _find(self, pid: int) -> Place | None:
        try:
            return self._hierarchy.find(pid)
        except UnknownPlaceError as error:
            if str(error) not in self._told:
                self._told.add(str(error))
                log.warning(
                    "the memory limits of some programs are not known, and count as no limit: "
                    "the cgroup of the first of these programs cannot be found",
                    extra=fields(pid=pid, why=error),
                )
            return None


def charges_pages(release: str) -> bool:
    """Whether this kernel lets the driver charge its pages to the cgroup of a process: 5.14 on."""
    numbers = re.match(r"(\d+)\.(\d+)", release)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= (5, 14)


def _read(version: _Version, folder: Path) -> MemoryGroup | None:
    try:
        text = (folder / version.limit).read_text(encoding="ascii").strip()
        if text == "max" or int(text) >= _NO_LIMIT:
            return None
        usage = int((folder / version.usage).read_text(encoding="ascii"))
        stat = _stat((folder / "memory.stat").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    clean = sum(stat.get(name, 0) for name in version.files)
    clean -= sum(stat.get(name, 0) for name in version.dirty)
    used = max(0, usage - max(0, clean))
    return MemoryGroup(os.fspath(folder), int(text), used)


def _stat(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
