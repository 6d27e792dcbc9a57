"""Clients' reports of their moves are believed as far as they can be true."""

import pytest

from nvshare.core.memory import Memory
from nvshare.core.settings import Mode
from nvshare.core.turns import Pace

from .stage import Stage

GIB = 1 << 30


def pace_of(stage: Stage) -> tuple[float, float]:
    return stage.device.state.pace.bandwidth, stage.device.state.pace.stretch


def test_no_move_has_taken_longer_than_since_the_last() -> None:
    stage = Stage(initial_bandwidth=1e9)
    stage.join(1, 12)
    stage.now += 1
    stage.moved(1, Memory(12), in_bytes=1 << 30, seconds=1e9)
    assert stage.device.state.pace.moving == pytest.approx(1.0)
    # The other direction went on at the same time, and is reported after it.
    stage.moved(1, Memory(12), out_bytes=1 << 30, seconds=1.0)
    assert pace_of(stage)[0] == pytest.approx(1e9 + ((1 << 30) - 1e9) / 4)
    assert stage.device.state.pace.moving == pytest.approx(1.0)


def test_no_bus_is_as_slow_as_that() -> None:
    stage = Stage(initial_bandwidth=1e9)
    stage.join(1, 12)
    stage.now += 3600
    stage.moved(1, Memory(12), in_bytes=17 << 20, seconds=3600.0)
    assert pace_of(stage)[0] > 0.75e9


def test_one_that_was_told_nothing_has_nothing_to_tell() -> None:
    stage = Stage(mode=Mode.SERIAL, initial_bandwidth=1e9)
    stage.busy(1, 12)
    stage.busy(2, 12)
    stage.now += 100
    stage.moved(2, Memory(12), out_bytes=17 << 20, seconds=50.0)
    assert pace_of(stage)[0] == 1e9
    assert stage.device.state.pace.moving == 0


def test_what_a_liar_has_told_goes_with_it() -> None:
    pace = Pace(1e9)
    for now in range(0, 600, 100):
        pace.measure(now, 1.0, in_bytes=2 * GIB, client=1)
        pace.measure(now + 50, 40.0, in_bytes=1 << 30, client=3)
    misled = pace.bandwidth
    assert misled < 1.2e9
    pace.measure(700, 1.0, in_bytes=1 << 24, client=3)
    for _ in range(4):
        pace.measure(pace.ended + 100, 1.0, in_bytes=1 << 24, client=3)
    assert pace.bandwidth < misled / 3
    pace.forget(3, 1e9)
    # As if the others had been alone.
    assert 1e9 < pace.bandwidth < 2 * GIB


def test_turns_that_a_liar_has_made_longer_are_as_before_when_it_is_gone() -> None:
    pace = Pace(1e9)
    for _ in range(4):
        pace.judge(4.0, 3.0, client=3)
    assert pace.stretch == 8
    pace.forget(1, 1e9)
    assert pace.stretch == 8
    pace.forget(3, 1e9)
    assert pace.stretch == 1


def test_what_everybody_agrees_on_stays() -> None:
    stage = Stage(initial_bandwidth=1e9)
    for client in (1, 2):
        stage.join(client, 1)
    for _ in range(6):
        for client in (1, 2):
            stage.now += 10
            stage.moved(client, Memory(1), in_bytes=2 * GIB, seconds=1.0)
    learned = pace_of(stage)[0]
    stage.leave(1)
    assert pace_of(stage)[0] == learned
