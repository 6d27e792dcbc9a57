"""Emulated nodes for tests that run real programs on them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from nvshare.lab.emulator.conf import Data, Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node


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
