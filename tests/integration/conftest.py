"""Emulated nodes for tests that run real programs on them, and such programs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Data, Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from tests.integration.hammering import build_hammer


@pytest.fixture
def make_node() -> Iterator[Callable[..., Node]]:
    """Make nodes that are removed when the test ends."""
    with ExitStack() as stack:

        def make(
            gpus: str = "1xt4",
            *,
            speed: float = 1.0,
            data: Data = "on",
            host_bytes: int = 256 << 30,
        ) -> Node:
            settings = Settings(speed=speed, data=data, host_bytes=host_bytes)
            return stack.enter_context(transient_node(node_root(), settings, parse_gpus(gpus)))

        yield make


def _built(once: Callable[..., Path], name: str) -> Path:
    """Compile a program of native/tests, in one of the processes that run tests side by side."""

    def make(folder: Path) -> None:
        folder.mkdir()
        build_hammer(folder, library_folder(), name=name)

    return once(name, make) / name


@pytest.fixture(scope="session")
def hammer(once: Callable[..., Path]) -> Path:
    """Makes all kinds of calls from several threads, and checks every byte."""
    return _built(once, "hammer")


@pytest.fixture(scope="session")
def keeper(once: Callable[..., Path]) -> Path:
    """Keeps memory for long, with patterns in it, and checks these again and again."""
    return _built(once, "keeper")


@pytest.fixture(scope="session")
def lodger(once: Callable[..., Path]) -> Path:
    """Has every sort of explicit memory, and checks it for each line that it reads."""
    return _built(once, "lodger")
