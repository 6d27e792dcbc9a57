"""The speed of a node changes the real time of a run, not the measurements."""

from collections.abc import Callable

import pytest

from nvshare.lab.emulator.emulated_node import Node

from ..rates import rates

pytestmark = pytest.mark.timed

MakeNode = Callable[..., Node]
EIGHT_ON_TWO_GPUS = (0, 1) * 4


def test_eight_busy_programs_take_as_long_at_speed_100_as_at_speed_20(make_node: MakeNode) -> None:
    slow = rates(make_node("2xt4", speed=20, data="off"), *EIGHT_ON_TWO_GPUS)
    fast = rates(make_node("2xt4", speed=100, data="off"), *EIGHT_ON_TWO_GPUS)
    # An iteration takes the inverse of the rate.
    for duration_ratio in (a / b for a, b in zip(slow, fast, strict=True)):
        assert duration_ratio == pytest.approx(1, rel=0.05)
