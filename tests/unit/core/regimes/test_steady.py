"""Longer turns, where all clients that take turns compute all the time. Moves take 1 s here."""

import pytest

from nvshare.core.events import LimitsChanged, TimerKind
from nvshare.core.settings import Limits

from ..stage import Stage


def computes(stage: Stage, client: int) -> None:
    stage.device.roster.set_busy(stage.device.roster.clients[client], True)


@pytest.fixture
def stage() -> Stage:
    """Have 1 run and 2 wait. Both compute all the time."""
    stage = Stage(initial_bandwidth=12.0)
    stage.join(1, 12)
    stage.join(2, 12, swapped=12)
    for client in (1, 2):
        computes(stage, client)
    stage.want(2)
    return stage


def turn_length(stage: Stage) -> float:
    return stage.device.state.alarms[TimerKind.TURN] - stage.device.state.turn_started


def test_turns_are_longer(stage: Stage) -> None:
    assert turn_length(stage) == 60.0


def test_they_are_as_usual_as_soon_as_somebody_waits_who_rests_now_and_then(stage: Stage) -> None:
    stage.join(3, 12, swapped=12)
    assert turn_length(stage) == 60.0
    stage.want(3)
    assert turn_length(stage) == 30.0


def test_they_are_as_usual_where_somebody_has_a_share(stage: Stage) -> None:
    limits = Limits(compute_percent=50)
    stage.core.handle(LimitsChanged(now=stage.now, client=1, limits=limits))
    assert turn_length(stage) == 30.0
