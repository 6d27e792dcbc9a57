"""A real memory cgroup with a limit, for programs of tests."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

MIB = 1 << 20
LIMIT_MIB = 1024  # far more than the programs themselves need

# Where cgroups are made, and the file of their limit: version 1, and version 2.
KINDS = {
    Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes",
    Path("/sys/fs/cgroup"): "memory.max",
}


# The file with a cgroup's charge, by version.
USAGES = ("memory.usage_in_bytes", "memory.current")


def usage(folder: Path) -> int:
    """Return the bytes that are charged to a cgroup."""
    (found,) = (folder / name for name in USAGES if (folder / name).exists())
    return int(found.read_text())


def set_limit(folder: Path, size: int) -> None:
    """Change the limit of a cgroup."""
    (found,) = (folder / name for name in KINDS.values() if (folder / name).exists())
    found.write_text(str(size))


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """Make a memory cgroup with a limit."""
    yield from _make("")


@pytest.fixture
def other_cgroup() -> Iterator[Path]:
    """Make another one."""
    yield from _make("-other")


def _make(suffix: str) -> Iterator[Path]:
    for parent, limit in KINDS.items():
        folder = parent / f"nvshare-test-{os.getpid()}{suffix}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / limit).exists():
                (folder / limit).write_text(str(LIMIT_MIB * MIB))
                yield folder
                return
        finally:
            # A daemon may be about to end.
            for pid in (folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    (parent / "cgroup.procs").write_text(pid)
            folder.rmdir()
    pytest.skip("no memory cgroup can be made here: it takes root, and the controller")
