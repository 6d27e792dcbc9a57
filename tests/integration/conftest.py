"""Emulated nodes for tests that run real programs on them."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from nvshare.emulator.conf import Data, FullPrefetch, Settings
from nvshare.emulator.gpus import parse_gpus
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.node import Node
from nvshare.emulator.root import node_root
from nvshare.emulator.transient import transient_node


@pytest.fixture
def make_node() -> Iterator[Callable[..., Node]]:
    """Make nodes that go when the test ends."""
    with ExitStack() as stack:

        def make(
            gpus: str = "1xt4",
            *,
            speed: float = 1.0,
            data: Data = "on",
            full_prefetch: FullPrefetch = "evict",
        ) -> Node:
            settings = Settings(speed=speed, data=data, full_prefetch=full_prefetch)
            return stack.enter_context(transient_node(node_root(), settings, parse_gpus(gpus)))

        yield make


INSIDE = Path(__file__).parent / "memory" / "inside.py"


@pytest.fixture
def emulated(make_node: Callable[..., Node]) -> Callable[..., str]:
    """Run a function of a test module on an emulated node; an exception in it fails the test.

    The function gets ``cu``, see inside.py. Returns what it printed.
    """

    def run(body: Callable[[Any], None], *, gpus: str = "tiny", speed: float = 1000.0) -> str:
        node = make_node(gpus, speed=speed)
        environment = {**os.environ, **node.environment(library_folder(), os.environ)}
        code = body.__code__
        result = subprocess.run(
            [sys.executable, str(INSIDE), code.co_filename, code.co_name],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
        return result.stdout + result.stderr

    return run
