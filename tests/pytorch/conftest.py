"""PyTorch programs on emulated nodes: without nvshare, and under it."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from nvshare.lab.emulator.conf import Data, Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node

from .environment import CUDA_12, NEWEST, VERSIONS, python
from .run import OBSTACLE

HERE = Path(__file__).parent
NVIDIA = Path(sysconfig.get_path("purelib")) / "nvidia"
WORKLOADS = HERE.parents[1] / "lab" / "workloads" / "pytorch"
SHARED = (sys.executable, "-m", "nvshare", "run", "--")
SHARED_EXPLICIT = (*SHARED[:-1], "--allocation", "explicit", "--")
SHARED_NATIVE = (*SHARED[:-1], "--allocation", "native", "--")
# Importing PyTorch takes some seconds on a quiet machine, and many times that on a busy one.
PATIENCE = 400

__all__ = ["CUDA_12", "NEWEST"]

MakeNode: TypeAlias = Callable[..., Node]
Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]


def pytest_configure() -> None:
    """Report missing requirements at once."""
    if OBSTACLE in os.environ:
        return
    for version in VERSIONS:
        try:
            python(version)
        except FileNotFoundError as error:
            raise pytest.UsageError(str(error)) from error


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip everything on a machine that cannot have PyTorch; run.py finds that out."""
    if why := os.environ.get(OBSTACLE):
        for item in items:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture
def make_node() -> Iterator[MakeNode]:
    """Make nodes that are removed when the test ends."""
    with ExitStack() as stack:

        def make(gpus: str = "2xt4", speed: float = 20, data: Data = "on") -> Node:
            settings = Settings(speed=speed, data=data)
            return stack.enter_context(transient_node(node_root(), settings, parse_gpus(gpus)))

        yield make


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program of ours with a PyTorch on a node; it ends with the test."""
    with ExitStack() as stack:

        def begin(
            node: Node,
            program: Path | str,
            *arguments: str,
            launcher: Sequence[str] = (),
            version: str = NEWEST,
            environment: Mapping[str, str] | None = None,
        ) -> "subprocess.Popen[str]":
            # The workloads fill gigabytes on the CPU first: huge pages make that fast.
            inherited = {**os.environ, "PYTHONUNBUFFERED": "1", "THP_MEM_ALLOC_ENABLE": "1"}
            process = subprocess.Popen(
                [*launcher, python(version), program, *arguments],
                env={
                    **inherited,
                    **node.environment(library_folder(), inherited),
                    **(environment or {}),
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


def finish(process: "subprocess.Popen[str]", warning: str = "") -> tuple[str, str]:
    """Wait for a program to succeed; return its output and its errors without nvshare's warnings.

    On standard error, the emulated libraries name functions that they do not implement, and nvshare
    may print warnings: only those that ``warning`` matches, and each kind once.
    """
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors + output
    lines = [line for line in errors.splitlines() if "started a daemon" not in line]
    warnings = [line for line in lines if line.startswith("nvshare")]
    assert len(warnings) <= len(warning.split("|"))
    assert all(warning and re.search(warning, line) for line in warnings), warnings
    return output, "\n".join(line for line in lines if line not in warnings)
