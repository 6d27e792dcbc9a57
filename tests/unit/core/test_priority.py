"""Which client goes first, and how much the others keep."""

from nvshare.core.effects import Revoke, Urgency
from nvshare.core.events import LimitsChanged, TimerKind
from nvshare.core.lease import State
from nvshare.core.settings import Limits, Priority
from nvshare.core.state import RegimeName

from .stage import Stage, asked, granted, timers, told

HIGH, LOW = Limits(priority=Priority.HIGH), Limits(priority=Priority.LOW)


def crowd(*limits: Limits, size: int = 1) -> Stage:
    """One client for each of these limits, with work at the gate; the first of them runs."""
    stage = Stage()
    for number, one in enumerate(limits, start=1):
        stage.join(number, size, limits=one)
    for number in range(1, len(limits) + 1):
        if stage.state(number) is not State.RUNNING:
            stage.want(number)
    return stage


def test_who_has_the_same_priority_as_all_others_takes_no_turns() -> None:
    stage = crowd(HIGH, HIGH)
    assert stage.states() == {1: "running", 2: "running"}


def test_with_different_priorities_one_runs_at_a_time() -> None:
    stage = crowd(Limits(), HIGH)
    assert stage.device.state.regime is RegimeName.RANKED
    assert sorted(stage.states().values()) != ["running", "running"]


def test_high_interrupts_others_at_once() -> None:
    stage = crowd(LOW, LOW)
    assert stage.states() == {1: "running", 2: "running"}
    effects = [*stage.join(3, 1, limits=HIGH), *stage.want(3)]
    assert sorted(told(effects)) == [1, 2]
    stage.release(1, wants=True)
    assert granted(stage.release(2, wants=True)) == [3]


def test_low_waits_until_the_others_have_nothing_to_do() -> None:
    stage = Stage()
    stage.join(1, 1)
    effects = [*stage.join(2, 1, limits=LOW), *stage.want(2)]
    assert asked(effects) == [1]
    assert told(effects) == []
    assert TimerKind.TURN not in stage.device.state.alarms
    assert granted(stage.release(1)) == [2]


def test_nobody_of_the_same_priority_is_interrupted_before_its_time() -> None:
    stage = crowd(HIGH, Limits())
    stage.join(3, 1, limits=HIGH)
    effects = stage.want(3)
    assert told(effects) == []
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert stage.state(2) is not State.RUNNING


def test_who_would_fall_below_its_floor_has_a_turn_that_nobody_interrupts() -> None:
    stage = crowd(HIGH, LOW)
    began = stage.now
    effects = stage.fire(TimerKind.FLOOR)
    # A slice of 50 ms in a second is the floor of 5 %.
    assert round(stage.now - began, 6) == 0.95
    assert told(effects) == [1]
    assert granted(stage.release(1, wants=True)) == [2]
    # Its slice is its own, although a client of higher priority waits.
    assert stage.state(1) is State.WAITING
    began = stage.now
    assert told(stage.fire(TimerKind.TURN)) == [2]
    assert round(stage.now - began, 6) == 0.05
    # And then it is behind the others again.
    stage.release(2, wants=True)
    assert stage.device.roster.clients[2].standing == 2


def test_where_moves_have_no_budget_a_turn_is_short_for_who_goes_first_but_not_cut_off() -> None:
    stage = Stage(turn_seconds=100.0, turn_min=10.0, move_budget=0.0)
    stage.join(1, 12, limits=LOW)
    stage.join(2, 12, limits=HIGH)
    began = stage.now
    stage.want(2)
    effects = stage.fire(TimerKind.TURN)
    assert stage.now - began == 10.0
    assert [e.client for e in effects if isinstance(e, Revoke) and e.urgency is Urgency.NOW] == [1]


def test_a_change_of_priority_counts_for_those_who_wait() -> None:
    stage = Stage(turn_seconds=100.0)
    for client in (1, 2, 3):
        stage.join(client, 12)
        stage.want(client)
    assert stage.device.state.head == 2
    stage.core.handle(LimitsChanged(now=stage.now, client=3, limits=HIGH))
    assert stage.device.state.head == 3
    stage.core.handle(LimitsChanged(now=stage.now, client=3, limits=LOW))
    assert stage.device.state.head == 2


def test_a_turn_without_an_end_gets_one_when_nobody_goes_before_the_head_any_more() -> None:
    stage = Stage(turn_seconds=100.0)
    stage.join(1, 12, limits=HIGH)
    stage.join(2, 12, swapped=12)
    stage.want(2)
    assert TimerKind.TURN not in stage.device.state.alarms
    normal = LimitsChanged(now=stage.now, client=1, limits=Limits())
    effects = stage.core.handle(normal)
    assert timers(effects) == {TimerKind.TURN: stage.now + 100.0}
    assert told(stage.fire(TimerKind.TURN)) == [1]


def test_who_was_let_go_first_goes_before_nobody_where_all_are_of_one_priority() -> None:
    stage = Stage(turn_seconds=100.0, turn_min=10.0)
    stage.join(1, 12, limits=HIGH)
    stage.join(2, 12, limits=LOW, swapped=12)
    stage.want(2)
    assert told(stage.fire(TimerKind.FLOOR)) == [1]
    assert granted(stage.release(1, wants=True)) == [2]
    low = LimitsChanged(now=stage.now, client=1, limits=LOW)
    stage.core.handle(low)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 100.0
    assert TimerKind.FLOOR not in stage.device.state.alarms
    assert told(stage.fire(TimerKind.TURN)) == [2]
