"""Finds the folder of a process's memory cgroup, as seen from here. Reads; decides nothing.

Both /proc/PID/cgroup and /proc/self/mountinfo show places as seen from the cgroup namespace of
their reader: in a container with a namespace of its own, "/" is the container's cgroup, and
everything else begins with "..". The container's cgroup itself shows what the dots stand for: it is
the same folder, with the same inode, in every mount of its hierarchy.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


class UnknownPlaceError(Exception):
    """The place of a cgroup cannot be found from here. The text says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of a cgroup, and its highest ancestor that is visible."""

    version: int
    folder: Path
    top: Path


@dataclass(frozen=True, slots=True)
class _Path:
    """A path: some levels up from the root of our cgroup namespace, then down by names."""

    ups: int
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "_Path":
        parts = [part for part in text.split("/") if part]
        ups = sum(1 for part in parts if part == "..")
        return cls(ups, tuple(parts[ups:]))


@dataclass(frozen=True, slots=True)
class _Mount:
    """The mount of a hierarchy, or of the part of one that begins at ``root``."""

    version: int
    hierarchy: str
    root: _Path
    point: Path


class MemoryHierarchy:
    """Finds processes in the hierarchy of cgroups, of version 1 or 2, that counts memory.

    In a container, the hierarchy of the node is mounted at ``folder`` or below it. Then only mounts
    there count: those of the container itself show nothing but the container.
    """

    def __init__(self, proc: Path = PROC, folder: Path | None = None) -> None:
        self._proc = proc
        self._folder = folder
        # The mounts, and the text that they were read from.
        self._mounted: tuple[str, list[_Mount]] = ("", [])
        # The root of our namespace below each mount: it never changes.
        self._own: dict[_Mount, tuple[str, ...]] = {}

    def find(self, pid: int) -> Place | None:
        """Return a process's cgroup; None: it is gone, or in no hierarchy that counts memory."""
        try:
            lines = (self._proc / str(pid) / "cgroup").read_text(encoding="utf-8").splitlines()
            mounts = self._mounts()
        except OSError:
            return None
        where = _counting(lines)
        if where is None:
            return None
        version, path = where
        mounts = [mount for mount in mounts if mount.version == version]
        found = [(mount, self._below(mount, path, mounts)) for mount in self._useful(mounts)]
        seen = [(mount, names) for mount, names in found if names is not None]
        if not seen:
            raise UnknownPlaceError("its cgroup lies outside of the cgroups that are mounted here")
        # A mount that begins higher shows more ancestors.
        mount, names = max(seen, key=lambda one: len(one[1]))
        folder = mount.point.joinpath(*names)
        return Place(version, folder, mount.point) if folder.is_dir() else None

    def _mounts(self) -> list[_Mount]:
        text = (self._proc / "self" / "mountinfo").read_text(encoding="utf-8")
        if text != self._mounted[0]:
            self._mounted = text, _mounts(text)
        return self._mounted[1]

    def _useful(self, mounts: list[_Mount]) -> list[_Mount]:
        if self._folder is None:
            useful, where = mounts, "here"
        else:
            useful = [mount for mount in mounts if mount.point.is_relative_to(self._folder)]
            where = f"at {self._folder}"
        if not useful:
            raise UnknownPlaceError(f"no cgroups that count memory are mounted {where}")
        return useful

    def _below(self, mount: _Mount, path: _Path, mounts: list[_Mount]) -> tuple[str, ...] | None:
        """Return the names from the root of a mount to a place, if it is below."""
        root = mount.root
        if path.ups == root.ups:
            depth = len(root.names)
            return path.names[depth:] if path.names[:depth] == root.names else None
        if path.ups > root.ups or root.names:
            return None
        # It shares an ancestor with us.
        if mount not in self._own:
            self._own[mount] = _own_place(mount, mounts)
        return self._own[mount][: root.ups - path.ups] + path.names


def _counting(lines: list[str]) -> tuple[int, _Path] | None:
    """Return the version that counts a process's memory, and its place there.

    On a machine with both versions, version 1 counts it if memory is among its controllers.
    """
    words = [line.split(":", 2) for line in lines if line.count(":") >= 2]
    for _, controllers, path in words:
        if "memory" in controllers.split(","):
            return 1, _Path.parse(path)
    for number, controllers, path in words:
        if number == "0" and not controllers:
            return 2, _Path.parse(path)
    return None


def _mounts(mountinfo: str) -> list[_Mount]:
    found = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if len(left) < 5 or len(right) < 3:
            continue
        is_two = right[0] == "cgroup2"
        if is_two or (right[0] == "cgroup" and "memory" in right[2].split(",")):
            root, point = _Path.parse(_plain(left[3])), Path(_plain(left[4]))
            found.append(_Mount(2 if is_two else 1, left[2], root, point))
    return found


def _plain(path: str) -> str:
    """Return a path of mountinfo with its escapes decoded."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), path)


def _own_place(mount: _Mount, mounts: list[_Mount]) -> tuple[str, ...]:
    """Return the names from the root of a mount to the root of our namespace."""
    for other in mounts:
        if other.hierarchy == mount.hierarchy and other.root == _Path(0, ()):
            found = next(_with_inode(mount.point, mount.root.ups, _inode(other.point)), None)
            if found is not None:
                return found.relative_to(mount.point).parts
    raise UnknownPlaceError(
        "the daemon does not find the cgroup of its own container among those of the node"
    )


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except OSError:
        return -1


def _with_inode(folder: Path, depth: int, inode: int) -> Iterator[Path]:
    """Return the folder with an inode, a number of levels below another folder."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        # A cgroup has just been removed.
        return
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            continue
        if depth > 1:
            yield from _with_inode(Path(entry.path), depth - 1, inode)
        elif entry.inode() == inode:
            yield Path(entry.path)
