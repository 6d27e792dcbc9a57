"""Programs in a real memory cgroup whose limit is too small for memory that leaves the GPU."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import read_report

from ..cgroups import LIMIT_MIB, cgroup

__all__ = ["cgroup"]

PROGRAM = Path(__file__).parent / "programs" / "leaving.py"
MIB = 1 << 20


@contextmanager
def leaving(node: Node, cgroup: Path, mib: int, *starter: str) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        [*starter, sys.executable, str(PROGRAM), str(cgroup), str(mib)],
        env={**os.environ, **node.environment(library_folder(), {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def test_who_exceeds_the_limit_of_its_cgroup_is_killed(
    make_node: Callable[..., Node], cgroup: Path
) -> None:
    node = make_node("t4", speed=100, data="off")
    with leaving(node, cgroup, LIMIT_MIB // 2) as within:
        assert within.stdout is not None
        assert within.stdout.readline() == "out\n"
        (own,) = read_report(node.folder).processes
        assert own.host_bytes == LIMIT_MIB // 2 * MIB
        # It would fit alone, but not with the other.
        with leaving(node, cgroup, LIMIT_MIB // 2) as beyond:
            assert beyond.wait(30) == -signal.SIGKILL
        assert within.poll() is None
    with leaving(node, cgroup, LIMIT_MIB + 2) as alone:
        assert alone.wait(30) == -signal.SIGKILL


def test_the_first_process_of_a_container_is_killed_too(
    make_node: Callable[..., Node], cgroup: Path
) -> None:
    node = make_node("t4", speed=100, data="off")
    # In a pid namespace, no process can kill the first one, not even that one itself.
    with leaving(node, cgroup, LIMIT_MIB + 2, "unshare", "--pid", "--kill-child") as first:
        assert first.wait(30) == 128 + signal.SIGKILL


def test_it_is_the_emulator_that_counts(make_node: Callable[..., Node], cgroup: Path) -> None:
    node = make_node("t4", speed=100, data="off")
    with leaving(node, cgroup, LIMIT_MIB + 2) as alone:
        assert alone.wait(30) == -signal.SIGKILL
    failures = cgroup / "memory.failcnt"
    if failures.exists():
        assert failures.read_text().strip() == "0"
