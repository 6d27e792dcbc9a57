"""Short turns for clients that compute all the time, where everything fits."""

from typing import Any

import pytest

from nvshare.core.effects import Effect, Evict, Handover, Keep, Report, Revoke, Urgency
from nvshare.core.events import TimerKind
from nvshare.core.memory import Memory
from nvshare.core.settings import Mode

from .stage import Stage, asked, granted, timers, told


def stage_of(*sizes: int, busy: tuple[int, ...], **settings: Any) -> Stage:
    """Have clients 1, 2, … run with this much memory each, some of them computing all the time."""
    stage = Stage(**settings)
    for client, size in enumerate(sizes, 1):
        stage.join(client, size)
        stage.used(client, 0.0)
    stage.now += 1
    for client in busy:
        stage.used(client, 1.0)
    return stage


def moves(effects: list[Effect]) -> int:
    orders = (e for e in effects if isinstance(e, Revoke | Evict))
    return sum(order.evict_bytes for order in orders)


def pass_on(stage: Stage) -> list[Effect]:
    """End a slice."""
    effects = stage.fire(TimerKind.TURN)
    (client,) = told(effects)
    return [*effects, *stage.release(client, wants=True)]


def test_two_that_compute_all_the_time_take_turns() -> None:
    stage = stage_of(4, 4, busy=(1,))
    assert stage.states() == {1: "running", 2: "running"}
    effects = stage.used(2, 1.0)
    # Nothing is wrong with that, so nothing is reported.
    assert [e for e in effects if isinstance(e, Report)] == []
    assert told(effects) == [2]
    effects = stage.release(2, wants=True)
    assert asked(effects) == [1]
    assert timers(effects) == {TimerKind.TURN: stage.now + 1.0}


def test_the_turns_go_round_and_move_no_memory() -> None:
    stage = stage_of(4, 4, 4, busy=(1, 2, 3), slice_seconds=0.5)
    effects = [*stage.release(2, wants=True), *stage.release(3, wants=True)]
    order = []
    for _ in range(6):
        before = stage.now
        effects += pass_on(stage)
        assert stage.now == before + 0.5
        order += list(stage.device.roster.running)
    assert order == [2, 3, 1, 2, 3, 1]
    assert moves(effects) == 0
    assert (stage.device.state.turn_changes, stage.device.state.slices) == (0, 8)


def test_who_does_not_answer_holds_others_up_for_a_second() -> None:
    """It is stopped, say: nothing has to leave for the others to go on."""
    stage = stage_of(4, 4, busy=(1, 2))
    stage.release(2, wants=True)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert stage.device.state.alarms[TimerKind.PATIENCE] == stage.now + 1.0
    effects = stage.fire(TimerKind.PATIENCE)
    assert granted(effects) == [2]
    assert [e.text.split(";")[0] for e in effects if isinstance(e, Report)] == [
        "has not given up its turn within 1 s"
    ]
    # It takes its place again when it goes on, and the other has had as much.
    stage.release(1, wants=True)
    assert told(stage.fire(TimerKind.TURN)) == []
    assert granted(pass_on(stage)) == [1]


def test_whose_kernels_are_long_is_waited_for_longer_from_then_on() -> None:
    stage = stage_of(4, 4, busy=(1, 2))
    stage.release(2, wants=True)
    stage.fire(TimerKind.TURN)
    stage.now += 0.9
    stage.release(1, wants=True)
    while stage.states()[1] != "running":
        stage.fire(TimerKind.TURN)
        stage.release(2, wants=True)
    while stage.states()[1] == "running":
        stage.fire(TimerKind.TURN)
    assert stage.device.state.alarms[TimerKind.PATIENCE] == stage.now + 1.8


def test_where_memory_has_to_leave_it_is_waited_for() -> None:
    stage = stage_of(4, 4, busy=(1, 2))
    stage.release(2, wants=True)
    stage.fire(TimerKind.TURN)
    stage.busy(3, 12)
    assert not stage.device.roster.regime.is_sliced
    assert stage.device.state.alarms[TimerKind.PATIENCE] == stage.now + 30.0


def test_the_next_one_is_woken_by_the_one_before() -> None:
    stage = stage_of(4, 4, busy=(1, 2))
    assert Handover(1, 1, 2, 3) in stage.release(2, wants=True)


def test_who_does_not_compute_all_the_time_runs_beside_them() -> None:
    stage = stage_of(4, 4, 4, busy=(1, 2))
    assert stage.states() == {1: "running", 2: "yielding", 3: "running"}
    effects = stage.release(2, wants=True)
    assert asked(effects) == [1]
    assert granted(pass_on(stage)) == [2]
    assert stage.state(3).value == "running"
    # So does a new client, as soon as it has something to do.
    assert granted(stage.busy(4, 2)) == [4]


def test_who_rests_in_its_turn_does_not_compute_all_the_time() -> None:
    stage = stage_of(4, 4, busy=(1, 2))
    effects = stage.release(2, wants=True)
    assert Revoke(1, 1, Urgency.WHEN_IDLE, 0, 0.05) in effects
    effects = stage.release(1)
    # With no other client to take turns with, all run again.
    assert granted(effects) == [2, 1]
    assert stage.device.state.alarms == {}


def test_when_one_ends_the_other_goes_on_alone() -> None:
    stage = stage_of(4, 4, busy=(1, 2))
    stage.release(2, wants=True)
    effects = stage.leave(2)
    assert Keep(1, 1) in effects
    assert stage.device.state.alarms == {}


def test_when_one_becomes_less_busy_everybody_runs_again() -> None:
    stage = stage_of(4, 4, busy=(1, 2))
    stage.release(2, wants=True)
    stage.now += 1
    assert granted(stage.used(1, 1.5)) == [2]


def test_as_soon_as_something_does_not_fit_turns_are_for_memory() -> None:
    stage = stage_of(4, 4, busy=(1, 2))
    stage.release(2, wants=True)
    effects = stage.memory(1, 13)
    assert Keep(1, 1) in effects
    assert asked(effects) == [1]
    assert timers(effects) == {TimerKind.TURN: 1001.0 + 30}
    stage.fire(TimerKind.TURN)
    stage.release(1, wants=True, memory=Memory(13, 0, 1))
    assert (stage.device.state.turn_changes, stage.device.state.slices) == (1, 1)


def test_a_turn_that_began_before_is_not_over_already() -> None:
    stage = Stage()
    for client in (1, 2):
        stage.join(client, 4)
        stage.used(client, 0.0)
    stage.now += 3600
    stage.used(1, 3600.0)
    stage.used(2, 3600.0)
    effects = stage.release(2, wants=True)
    assert told(effects) == []
    assert timers(effects) == {TimerKind.TURN: stage.now + 1.0}


@pytest.mark.parametrize("settings", [{"slice_seconds": 0.0}, {"mode": Mode.CONCURRENT}])
def test_nobody_takes_turns_where_they_are_not_wanted(settings: dict[str, Any]) -> None:
    stage = stage_of(4, 4, busy=(1, 2), **settings)
    assert stage.states() == {1: "running", 2: "running"}
