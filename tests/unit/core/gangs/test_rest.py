"""A client that is idle in its gang's turn keeps its place until its whole gang is idle."""

import pytest

from nvshare.core.effects import Grant
from nvshare.core.events import TimerKind

from ..stage import asked, granted
from .stage import Stage, holds


@pytest.fixture
def stage() -> Stage:
    """Gang 10, 11 runs, and 20 waits for the device of 10."""
    stage = Stage()
    stage.gang(10, 11)
    stage.join(20, 12)
    stage.want(20)
    return stage


def test_who_rests_keeps_its_place(stage: Stage) -> None:
    assert granted(stage.release(10)) == []
    assert stage.client(10).gang.rests
    assert stage.states(20) == ["waiting"]


def test_who_rests_goes_on_as_soon_as_it_wants_to(stage: Stage) -> None:
    stage.release(10)
    before = stage.client(10).turn.number
    effects = stage.come_back(10)
    assert [effect for effect in effects if isinstance(effect, Grant)] == [Grant(10, before + 1)]
    # It is asked again to give way when it is idle: for the new turn.
    assert asked(effects) == [10]
    assert not stage.client(10).gang.rests


def test_when_all_rest_the_gang_is_off(stage: Stage) -> None:
    stage.release(10)
    assert granted(stage.release(11)) == [20]
    assert stage.states(10, 11) == ["idle", "idle"]


def test_who_rests_is_not_waited_for_when_the_turn_ends(stage: Stage) -> None:
    stage.release(10)
    assert holds(stage.fire(0, TimerKind.TURN)) == [11]
    assert granted(stage.held(11)) == [20]
    assert stage.states(10, 11) == ["idle", "yielding"]
    stage.release(11, wants=True)
    # Now it wants to go on, and so its whole gang waits.
    assert stage.states(10, 11) == ["waiting", "waiting"]


def test_one_that_wants_while_its_gang_goes_waits_with_it(stage: Stage) -> None:
    stage.release(10)
    stage.fire(0, TimerKind.TURN)
    stage.come_back(10)
    stage.held(11)
    assert stage.states(10) == ["waiting"]
    stage.release(11)
    assert stage.states(10, 11) == ["waiting", "waiting"]


def test_who_rests_gets_a_turn_to_catch_up_in_when_others_cannot_drain_without_it(
    stage: Stage,
) -> None:
    stage.release(10)
    stage.fire(0, TimerKind.TURN)
    assert stage.come_back(10) != []
    effects = stage.fire(0, TimerKind.STEP)
    # It has no turn to step in.
    assert granted(effects) == [10]
    assert holds(effects) == [10]
    stage.held(10)
    stage.held(11)
    assert stage.states(10, 11) == ["yielding", "yielding"]


def test_who_rests_when_its_gang_ends_gives_its_turn_up(stage: Stage) -> None:
    stage.release(10)
    assert granted(stage.leave(11)) == [20]
    assert stage.states(10) == ["idle"]
