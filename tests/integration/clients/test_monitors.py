"""Monitors see a client that holds a known amount of memory: where it is, and how much it has."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[str]"]
Run = Callable[..., str]

PROGRAMS = Path(__file__).parent / "programs"
BIN = Path(sys.executable).parent

MEBIBYTES = 100
OF_CONTEXT = 8  # the size of a context on the tiny GPU


@pytest.fixture
def holder(start: Start) -> "subprocess.Popen[str]":
    """A process with 100 MiB on the second GPU."""
    process = start(sys.executable, PROGRAMS / "holder.py", "1", str(MEBIBYTES))
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
def mebibytes(launcher: Sequence[object]) -> int:
    """The memory that NVML shows for it: under nvshare its memory is managed, and left out."""
    return OF_CONTEXT if launcher else MEBIBYTES + OF_CONTEXT


def test_nvml_lists_it(run: Run, holder: "subprocess.Popen[str]", mebibytes: int) -> None:
    listed = run(sys.executable, PROGRAMS / "monitor.py")
    assert listed == f"1 {holder.pid} {mebibytes}\n"


def test_gpustat_lists_it(run: Run, holder: "subprocess.Popen[str]", mebibytes: int) -> None:
    first, second = json.loads(run(BIN / "gpustat", "--json"))["gpus"]
    assert first["processes"] == []
    [found] = second["processes"]
    assert (found["pid"], found["gpu_memory_usage"]) == (holder.pid, mebibytes)


# Under nvshare a program sees its own memory, and a monitor has none.
@pytest.mark.usefixtures("holder")
@pytest.mark.parametrize("launcher", [()], ids=["bare"])
def test_gpustat_shows_what_is_in_use(run: Run) -> None:
    first, second = json.loads(run(BIN / "gpustat", "--json"))["gpus"]
    assert second["memory.used"] - first["memory.used"] == MEBIBYTES + OF_CONTEXT


def test_nvitop_shows_it(run: Run, holder: "subprocess.Popen[str]", mebibytes: int) -> None:
    terminal = {"COLUMNS": "120", "LINES": "60", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    shown = run(BIN / "nvitop", "-1", "--no-unicode", "--colorful", environment=terminal)
    [line] = [line for line in shown.splitlines() if f" {holder.pid} " in line]
    assert re.search(rf" {mebibytes}(\.0+)?MiB ", line), line


def test_nothing_is_left_of_it(run: Run, holder: "subprocess.Popen[str]") -> None:
    holder.kill()
    holder.wait(10)
    assert run(sys.executable, PROGRAMS / "monitor.py") == ""
