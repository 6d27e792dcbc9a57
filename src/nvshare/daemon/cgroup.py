"""The memory cgroups of a process: their limits, and what is used of them. Reads; decides nothing.

Version 1 and version 2 of the kernel's control groups, whichever has the memory controller. A limit
holds for all that is below it, so every cgroup on the way up counts.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_PROC = Path("/proc")
# Version 1 says so if there is no limit, rounded down to pages.
_NO_LIMIT = 1 << 62
# How deep a cgroup may lie below the mounted hierarchy if its path does not tell.
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """A memory cgroup that has a limit.

    ``used`` is without what the kernel drops before it kills anybody: clean pages of files.
    """

    name: str
    limit: int
    used: int


@dataclass(frozen=True, slots=True)
class _Version:
    """What files are called."""

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


@dataclass(frozen=True, slots=True)
class _Mount:
    """A hierarchy, or a part of one that begins at ``root``, and where it is to be seen."""

    version: _Version
    root: PurePosixPath
    point: Path


def memory_groups(pid: int, proc: Path = _PROC) -> list[MemoryGroup]:
    """Return the memory cgroups with a limit that a process is in, from the inside outwards.

    Nothing is found of a process that is gone, or of a hierarchy that is not mounted here.
    """
    try:
        lines = (proc / str(pid) / "cgroup").read_text(encoding="utf-8").splitlines()
        mounts = _mounts((proc / "self" / "mountinfo").read_text(encoding="utf-8"))
    except OSError:
        return []
    for version, path in _paths(lines):
        for mount in mounts:
            if mount.version is version and (folder := _find(mount, path)):
                return list(_limited(mount, folder))
    return []


def charges_pages(release: str) -> bool:
    """Whether this kernel lets the driver charge its pages to the cgroup of a process: 5.14 on."""
    numbers = re.match(r"(\d+)\.(\d+)", release)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= (5, 14)


def _paths(lines: list[str]) -> Iterator[tuple[_Version, PurePosixPath]]:
    """Return the process's place in the hierarchy that has the memory controller, likelier first.

    On a machine with both versions, version 1 has it if it is among its controllers.
    """
    words = [line.split(":", 2) for line in lines if line.count(":") >= 2]
    for _, controllers, path in words:
        if "memory" in controllers.split(","):
            yield _ONE, PurePosixPath(path)
    for number, controllers, path in words:
        if number == "0" and not controllers:
            yield _TWO, PurePosixPath(path)


def _mounts(mountinfo: str) -> list[_Mount]:
    found = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if len(left) < 5 or len(right) < 3:
            continue
        root, point = PurePosixPath(_plain(left[3])), Path(_plain(left[4]))
        if right[0] == "cgroup2":
            found.append(_Mount(_TWO, root, point))
        elif right[0] == "cgroup" and "memory" in right[2].split(","):
            found.append(_Mount(_ONE, root, point))
    return found


def _plain(path: str) -> str:
    """Return a path of mountinfo with its blanks."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), path)


def _find(mount: _Mount, path: PurePosixPath) -> Path | None:
    """Return where a cgroup is below a mount.

    Seen from a container, paths begin at the container's own cgroup, and those of others with "..":
    what these dots stand for nobody tells, but names of pods and containers are there once only.
    """
    if ".." not in path.parts and ".." not in mount.root.parts:
        try:
            folder = mount.point / path.relative_to(mount.root)
        except ValueError:
            return None
        return folder if folder.is_dir() else None
    known = [part for part in path.parts if part not in ("/", "..")]
    if not known:
        return None
    for depth in range(_DEEPEST):
        found = sorted(mount.point.glob("/".join([*["*"] * depth, *map(_literal, known)])))
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _limited(mount: _Mount, folder: Path) -> Iterator[MemoryGroup]:
    """Go up to where the mount begins. A cgroup that is just being removed is not there."""
    while True:
        group = _read(mount.version, folder)
        if group:
            yield group
        if folder == mount.point or mount.point not in folder.parents:
            return
        folder = folder.parent


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
