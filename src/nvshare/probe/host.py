"""The host's side: memory of the machine, of this process and of its memory cgroup; the kernel.

Reads files and decides nothing. Folders are arguments, so that a test can bring its own.
"""

import os
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_SYS = Path("/sys")
# Version 1 expresses "no limit" as the largest possible number of pages.
_NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class HostMemory:
    """Bytes at one moment. A value that cannot be read is None."""

    available: int | None
    resident: int | None
    cgroup: int | None


def read_memory(proc: Path = _PROC, sys: Path = _SYS) -> HostMemory:
    """Read the current memory use of this machine, process and cgroup."""
    folder = memory_cgroup(proc, sys)
    return HostMemory(
        available=_field(proc / "meminfo", "MemAvailable"),
        resident=_field(proc / "self/status", "VmRSS"),
        cgroup=folder.usage() if folder else None,
    )


def total_memory(proc: Path = _PROC) -> int | None:
    """Return how much memory this machine has."""
    return _field(proc / "meminfo", "MemTotal")


@dataclass(frozen=True)
class MemoryCgroup:
    """The memory cgroup of a process. ``top`` is where its hierarchy is mounted."""

    folder: Path
    top: Path
    version: int

    def usage(self) -> int | None:
        """Return the memory charged to it. The root of version 2 does not report it."""
        name = "memory.current" if self.version == 2 else "memory.usage_in_bytes"
        return _number(self.folder / name)

    def limit(self) -> int | None:
        """Return the lowest limit from here to the top; None: there is none."""
        name = "memory.max" if self.version == 2 else "memory.limit_in_bytes"
        found = [_number(folder / name) for folder in self._upwards()]
        return min(
            (limit for limit in found if limit is not None and limit < _NO_LIMIT), default=None
        )

    def _upwards(self) -> list[Path]:
        inside = [self.folder, *self.folder.parents]
        return [folder for folder in inside if folder.is_relative_to(self.top)]


def memory_cgroup(proc: Path = _PROC, sys: Path = _SYS) -> MemoryCgroup | None:
    """Find the memory cgroup of this process; version 1 where that has the controller."""
    try:
        lines = (proc / "self/cgroup").read_text().splitlines()
    except OSError:
        return None
    paths = {part[1]: part[2] for part in (line.split(":", 2) for line in lines)}
    mounted = sys / "fs/cgroup"
    for controllers, path in paths.items():
        if "memory" in controllers.split(","):
            return _cgroup(mounted / "memory", path, 1)
    if "" in paths:
        return _cgroup(mounted, paths[""], 2)
    return None


def _cgroup(top: Path, path: str, version: int) -> MemoryCgroup | None:
    # In a container the path may be the host's, while the container's own cgroup is mounted as top.
    inside = top / path.lstrip("/")
    folder = inside if inside.is_dir() else top
    return MemoryCgroup(folder, top, version) if folder.is_dir() else None


def module_flavour(proc: Path = _PROC) -> str | None:
    """Return which kernel module the driver has, "open" or "proprietary"; None: there is none."""
    try:
        text = (proc / "driver/nvidia/version").read_text()
    except OSError:
        return None
    return "open" if "Open Kernel Module" in text else "proprietary"


def numa_node(bus_id: str, sys: Path = _SYS) -> int | None:
    """Return the NUMA node that a PCI device is at; -1: the machine does not say."""
    # NVML writes eight digits of domain, the kernel four.
    name = bus_id.lower()
    domain, _, rest = name.partition(":")
    return _number(sys / f"bus/pci/devices/{domain[-4:]}:{rest}/numa_node")


def kernel_release() -> str:
    """Return the version of the kernel."""
    return os.uname().release


def kernel_version(release: str) -> tuple[int, int]:
    """Return the first two numbers of "6.18.44-generic"."""
    major, minor, *_ = [*release.split("."), "0"]
    digits = "".join(letter for letter in minor if letter.isdigit())
    return int(major), int(digits or 0)


def mps_folder() -> Path | None:
    """Return the folder in which an MPS daemon listens, if there is one."""
    folder = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY") or "/tmp/nvidia-mps")  # noqa: S108
    return folder if (folder / "control").exists() else None


def loaded(name: str, proc: Path = _PROC) -> bool:
    """Whether this process has a library of this name in memory."""
    return any(line.endswith(f"/{name}") for line in (proc / "self/maps").read_text().splitlines())


def _field(path: Path, name: str) -> int | None:
    try:
        for line in path.read_text().splitlines():
            key, _, value = line.partition(":")
            if key == name:
                return int(value.split()[0]) * 1024
    except OSError:
        return None
    return None


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
