"""Where the memory cgroup of a process is to be seen from here. Reads; decides nothing.

Both /proc/PID/cgroup and /proc/self/mountinfo show places as seen from the cgroup namespace of
whoever reads them: in a container that has one of its own, "/" is the container's cgroup, and
everything else begins with "..". What the dots stand for is found out by the container's cgroup
itself, which is the same folder, with the same inode, in every mount of its hierarchy.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


class UnknownPlaceError(Exception):
    """The place of a cgroup cannot be told from here. The text says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of a cgroup, and the highest one that is to be seen of what it lies in."""

    version: int
    folder: Path
    top: Path


@dataclass(frozen=True, slots=True)
class _Path:
    """So many levels up from the root of our cgroup namespace, and then down by these names."""

    ups: int
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "_Path":
        parts = [part for part in text.split("/") if part]
        ups = sum(1 for part in parts if part == "..")
        return cls(ups, tuple(parts[ups:]))


@dataclass(frozen=True, slots=True)
class _Mount:
    """A hierarchy, or a part of one that begins at ``root``, and where it is to be seen."""

    version: int
    hierarchy: str
    root: _Path
    point: Path


class MemoryHierarchy:
    """Finds processes in the hierarchy of cgroups, of version 1 or 2, that counts memory.

    ``folder`` is where that of the node is mounted, at it or below it, if this is a container. Only
    mounts there count then: those of the container itself show nothing but the container.
    """

    def __init__(self, proc: Path = PROC, folder: Path | None = None) -> None:
        self._proc = proc
        self._folder = folder
        # What is mounted, and what that was read from.
        self._mounted: tuple[str, list[_Mount]] = ("", [])
        # Where the root of our namespace is below a mount: it does not change while we live.
        self._own: dict[_Mount, tuple[str, ...]] = {}

    def find(self, pid: int) -> Place | None:
        """Return where a process is; None: it is gone, or in no hierarchy that counts memory."""
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
            raise UnknownPlaceError("it lies outside of what is mounted here")
        # A mount that begins higher shows more of what it lies in.
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
        """Return the names that lead from where a mount begins to a place, if it is below."""
        root = mount.root
        if path.ups == root.ups:
            depth = len(root.names)
            return path.names[depth:] if path.names[:depth] == root.names else None
        if path.ups > root.ups or root.names:
            return None
        # It lies in something that we lie in, too.
        if mount not in self._own:
            self._own[mount] = _own_place(mount, mounts)
        return self._own[mount][: root.ups - path.ups] + path.names


def _counting(lines: list[str]) -> tuple[int, _Path] | None:
    """Return the version that counts a process's memory, and its place there.

    On a machine with both versions, version 1 does if memory is among its controllers.
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
    """Return a path of mountinfo with its blanks."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), path)


def _own_place(mount: _Mount, mounts: list[_Mount]) -> tuple[str, ...]:
    """Return the names that lead from where a mount begins to the root of our namespace."""
    for other in mounts:
        if other.hierarchy == mount.hierarchy and other.root == _Path(0, ()):
            found = next(_with_inode(mount.point, mount.root.ups, _inode(other.point)), None)
            if found is not None:
                return found.relative_to(mount.point).parts
    raise UnknownPlaceError("this container does not find its own cgroup among those of the node")


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except OSError:
        return -1


def _with_inode(folder: Path, depth: int, inode: int) -> Iterator[Path]:
    """Return the folder that has an inode, so many levels below another."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        # A cgroup that has just been removed.
        return
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            continue
        if depth > 1:
            yield from _with_inode(Path(entry.path), depth - 1, inode)
        elif entry.inode() == inode:
            yield Path(entry.path)
