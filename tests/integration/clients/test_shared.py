"""The same programs under nvshare: byte for byte what they print without it, alone and in company.

What differs by design, and is told in docs/interposer.md, has its own test at the end.
"""

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from nvshare.emulator.libraries import library_folder
from nvshare.emulator.node import Node
from nvshare.launch.preload import Wishes, library, program_environment
from nvshare.launch.start import find_or_start

from .conftest import EXPECTED, PROGRAMS

DRIVER = (
    *("contexts", "copies", "devices", "errors", "exhaustion", "graphs", "kernels", "managed"),
    *("modules", "peers", "pools", "streams", "threads", "vmm"),
)
OTHERS = ("numba_arrays", "numba_detect", "numba_kernels", "core_objects", "core_programs")
COMPANY = 3


@pytest.fixture
def shared(node: Node) -> Mapping[str, str]:
    """The environment of a program under a daemon on the node."""
    base = {**os.environ, **node.environment(library_folder(), os.environ)}
    folder = find_or_start(base)
    return {**base, **program_environment(Wishes(), folder, library(), base)}


def start(program: str, environment: Mapping[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, PROGRAMS / f"{program}.py"],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=100)
    return process.returncode, output, errors


def expected(program: str) -> tuple[int, str, str]:
    return 0, (EXPECTED / f"{program}.txt").read_text(encoding="utf-8"), ""


@pytest.mark.parametrize("program", [*DRIVER, *OTHERS])
def test_alone(shared: Mapping[str, str], program: str) -> None:
    assert outcome(start(program, shared)) == expected(program)


@pytest.mark.parametrize("program", ["copies", "graphs", "kernels", "streams", "numba_kernels"])
def test_with_three_others_at_the_same_time(shared: Mapping[str, str], program: str) -> None:
    started = [start(program, shared) for _ in range(COMPANY + 1)]
    assert [outcome(process) for process in started] == [expected(program)] * (COMPANY + 1)


def test_sharing_memory_with_another_process_needs_native_allocation(node: Node) -> None:
    base = {**os.environ, **node.environment(library_folder(), os.environ)}
    wishes = Wishes(native=True)
    native = {**base, **program_environment(wishes, find_or_start(base), library(), base)}
    assert outcome(start("ipc", native)) == expected("ipc")
