"""Removes the cgroups that a kubelet leaves on a machine, and checks that nothing else is left."""

import sys
import time
from pathlib import Path

from .node import CGROUP

_CGROUPS = Path("/sys/fs/cgroup")
_PROGRAMS = {"containerd", "containerd-shim", "kubelet", "etcd", "kube-apiserver", "kube-scheduler"}


class Leftovers:
    """Records the state before a cluster starts, and cleans up after it."""

    def __init__(self) -> None:
        self._mounts = _mounts()
        self._processes = _processes()
        _remove_cgroups()
        for hierarchy in hierarchies():
            _make_cgroup(hierarchy / CGROUP)

    def clear(self) -> int:
        """Clean up; return 1 and say so if something is left all the same."""
        _remove_cgroups()
        left = [f"mounted: {mount}" for mount in _mounts() - self._mounts]
        left += [f"running: {process}" for process in _processes() - self._processes]
        left += [f"cgroup: {one / CGROUP}" for one in hierarchies() if (one / CGROUP).exists()]
        for line in left:
            print(f"left behind: {line}", file=sys.stderr)
        return 1 if left else 0


def _mounts() -> set[str]:
    return {line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()}


def _processes() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            name = path.read_text().strip()
        except OSError:
            continue
        if any(name.startswith(program[:15]) for program in _PROGRAMS):
            found.add(f"{path.parent.name} {name}")
    return found


def hierarchies() -> list[Path]:
    """One folder per controller (version 1), or the one folder of version 2."""
    if (_CGROUPS / "cgroup.controllers").exists():
        return [_CGROUPS]
    return [path for path in _CGROUPS.glob("*/") if not path.is_symlink()]


def _make_cgroup(path: Path) -> None:
    path.mkdir(exist_ok=True)
    # A new group of this controller has no CPUs and no memory until it is given some.
    for name in ("cpuset.cpus", "cpuset.mems"):
        if (path / name).exists() and path.parent.name.startswith("cpuset"):
            (path / name).write_text((path.parent / name).read_text())


def _remove_cgroups() -> None:
    for hierarchy in hierarchies():
        top = hierarchy / CGROUP
        for _ in range(50):
            for path in sorted([*top.rglob("*/"), top], reverse=True):
                try:
                    path.rmdir()
                except OSError:
                    continue
            if not top.exists():
                break
            time.sleep(0.1)
