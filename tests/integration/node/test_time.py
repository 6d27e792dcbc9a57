"""The speed of a node changes how long one waits, not what is measured."""

from collections.abc import Callable

import pytest

from nvshare.emulator.node import Node
from nvshare.emulator.workload import Run

MakeNode = Callable[..., Node]
CLIENTS = 8


def mean_seconds(node: Node) -> float:
    """Run eight programs on two GPUs at once; return how long their loops took."""
    runs = [
        Run(node, "pytorch-add-small", "--iterations", "1500", "--device", str(number % 2))
        for number in range(CLIENTS)
    ]
    return sum(run.result(100).loop_seconds for run in runs) / CLIENTS


def test_eight_busy_programs_take_as_long_at_speed_100_as_at_speed_10(make_node: MakeNode) -> None:
    slow = mean_seconds(make_node("2xt4", speed=10, data="off"))
    fast = mean_seconds(make_node("2xt4", speed=100, data="off"))
    assert fast == pytest.approx(slow, rel=0.05)
