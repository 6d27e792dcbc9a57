"""A real memory cgroup with a limit, for programs of tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

MIB = 1 << 20
LIMIT_MIB = 1024  # far more than the programs themselves need

# Where cgroups are made, and the file of their limit: version 1, and version 2.
KINDS = {
    Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes",
    Path("/sys/fs/cgroup"): "memory.max",
}


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """Make a memory cgroup with a limit."""
    for parent, limit in KINDS.items():
        folder = parent / f"nvshare-test-{os.getpid()}"
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
            folder.rmdir()
    pytest.skip("no memory cgroup can be made here: it takes root, and the controller")
