"""Two clients that do not fit beside each other on 16 bytes: moving one takes a second."""

from typing import Any

import pytest

from nvshare.core.effects import Effect, Revoke
from nvshare.core.settings import Limits, Priority

from ..stage import Stage

SWAP = 1.0


def begin(**settings: Any) -> Stage:
    stage = Stage(initial_bandwidth=12.0, turn_seconds=600.0, **settings)
    stage.join(1, 12)
    return stage


def rest(effects: list[Effect]) -> float:
    (order,) = (effect for effect in effects if isinstance(effect, Revoke))
    return order.idle_seconds


def test_who_was_heard_of_lately_may_rest_for_as_long_as_the_move_takes() -> None:
    stage = begin()
    stage.now += 100
    stage.used(1, 0.1)
    stage.now += 1.4
    assert rest(stage.busy(2, 12)) == pytest.approx(SWAP)
    stage = begin()
    stage.now += 0.3
    assert rest(stage.busy(2, 12)) == pytest.approx(SWAP)


def test_what_somebody_has_rested_already_counts() -> None:
    stage = begin()
    stage.used(1, 0.1)
    stage.now += 2.1
    assert rest(stage.busy(2, 12)) == pytest.approx(SWAP - 0.6)
    # It has reported that it had nothing to do.
    stage = begin()
    stage.used(1, 0.1)
    stage.now += 1.0
    stage.used(1, 0.1)
    stage.now += 0.7
    assert rest(stage.busy(2, 12)) == pytest.approx(SWAP - 0.4)


def test_who_has_rested_for_long_gives_way_almost_at_once() -> None:
    """It may have begun to work just now."""
    stage = begin()
    stage.now += 60
    assert rest(stage.busy(2, 12)) == pytest.approx(0.05 / 5)


def test_a_longer_pause_of_reports_is_no_rest() -> None:
    stage = begin(slice_seconds=4.0)
    stage.used(1, 0.1)
    stage.now += 6.0
    assert rest(stage.busy(2, 12)) == pytest.approx(SWAP)


def test_who_computes_all_the_time_has_not_rested_though_it_tells_nothing() -> None:
    stage = begin()
    stage.now += 10
    stage.used(1, 9.9)
    stage.now += 60
    assert rest(stage.busy(2, 12)) == pytest.approx(SWAP)


def test_where_turns_are_not_for_memory_the_rest_is_that_of_the_regime() -> None:
    stage = Stage(share_slice_seconds=1.0)
    stage.join(1, 2)
    stage.now += 60
    stage.join(2, 2, limits=Limits(priority=Priority.LOW))
    assert rest(stage.want(2)) == pytest.approx(0.05)
