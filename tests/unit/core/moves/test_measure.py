"""Clients' reports of their moves are believed as far as they can be true."""

import pytest

from nvshare.core.memory import Memory
from nvshare.core.settings import Mode

from ..stage import Stage

GIB = 1 << 30


def bandwidth(stage: Stage) -> float:
    return stage.device.state.pace.bandwidth


def test_no_move_has_taken_longer_than_since_the_last() -> None:
    stage = Stage(initial_bandwidth=1e9)
    stage.join(1, 12)
    stage.now += 1
    stage.moved(1, Memory(12), in_bytes=1 << 30, seconds=1e9)
    assert stage.device.state.pace.moving == pytest.approx(1.0)
    # The other direction went on at the same time, and is reported after it.
    stage.moved(1, Memory(12), out_bytes=1 << 30, seconds=1.0)
    assert bandwidth(stage) == pytest.approx(1e9 + ((1 << 30) - 1e9) / 4)
    assert stage.device.state.pace.moving == pytest.approx(1.0)


def test_no_bus_is_as_slow_as_that() -> None:
    stage = Stage(initial_bandwidth=1e9)
    stage.join(1, 12)
    stage.now += 3600
    stage.moved(1, Memory(12), in_bytes=17 << 20, seconds=3600.0)
    assert bandwidth(stage) > 0.75e9


def test_one_that_was_told_nothing_has_nothing_to_tell() -> None:
    stage = Stage(mode=Mode.SERIAL, initial_bandwidth=1e9)
    stage.busy(1, 12)
    stage.busy(2, 12)
    stage.now += 100
    stage.moved(2, Memory(12), out_bytes=17 << 20, seconds=50.0)
    assert bandwidth(stage) == 1e9
    assert stage.device.state.pace.moving == 0
