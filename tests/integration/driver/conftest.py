"""Test bodies that run in a process of their own, on an emulated node that ends with them."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.conf import Data, Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node

INSIDE = Path(__file__).parent / "inside.py"
# A body takes two seconds at most.
SECONDS = 60

Body = Callable[[Any], None]
Emulated = Callable[..., str]


class Parent:
    """The process of inside.py, which forks a child for every body."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._process = self._begin()

    def _begin(self) -> "subprocess.Popen[str]":
        # The linker reads its variables when a process begins, and a child has no others. They are
        # the same for every node, and the bindings look for the driver at their first call.
        with transient_node(node_root(), Settings(), parse_gpus("tiny")) as node:
            environment = {**os.environ, **node.environment(library_folder(), os.environ)}
        return subprocess.Popen(
            [sys.executable, str(INSIDE)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, body: Body, environment: dict[str, str]) -> tuple[int, str]:
        """Run a body; return its exit code and its output."""
        self._number += 1
        output = self._folder / str(self._number)
        code = body.__code__
        order = {"file": code.co_filename, "function": code.co_name, "environment": environment}
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        print(json.dumps({**order, "output": str(output)}), file=to, flush=True)
        if not select.select([back], [], [], SECONDS)[0]:
            self.end()
            self._process = self._begin()
            pytest.fail(f"does not end: {output.read_text()}")
        return int(back.readline()), output.read_text()

    def end(self) -> None:
        """End it, with its child."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture(scope="session")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parent]:
    """One for all tests."""
    made = Parent(tmp_path_factory.mktemp("inside"))
    yield made
    made.end()


@pytest.fixture
def emulated(parent: Parent) -> Emulated:
    """Run a function of a test module on an emulated node; an exception in it fails the test.

    See inside.py for the argument of ``body(cu)``. The body has to end with that code, negative for
    a signal. Returns its output.
    """

    def run(
        body: Body,
        *,
        gpus: str = "tiny",
        speed: float = 1000.0,
        data: Data = "on",
        model: bool = True,
        visible: str | None = None,
        host_bytes: int = 256 << 30,
        variables: Mapping[str, str] | None = None,
        ends: int = 0,
    ) -> str:
        settings = Settings(speed=speed, data=data, host_bytes=host_bytes)
        with transient_node(node_root(), settings, parse_gpus(gpus)) as node:
            environment = dict(os.environ)
            environment.pop("CUDA_VISIBLE_DEVICES", None)
            environment.update(node.environment(library_folder(), os.environ))
            environment["NVSHARE_EMULATOR_MODEL"] = "on" if model else "off"
            if visible is not None:
                environment["CUDA_VISIBLE_DEVICES"] = visible
            environment.update(variables or {})
            ended, printed = parent.run(body, environment)
        assert ended == ends, printed
        return printed

    return run
