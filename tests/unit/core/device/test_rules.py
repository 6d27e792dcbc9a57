from typing import Any

import pytest

from nvshare.core.effects import (
    CancelTimer,
    Effect,
    Grant,
    Keep,
    Report,
    ReportKind,
    Revoke,
    SetTimer,
    Urgency,
)
from nvshare.core.events import Timer, TimerKind
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client
from nvshare.core.settings import Mode
from nvshare.core.turns.admit import pick

from ..stage import GPU, Stage, asked, granted, timers, told


def reports(effects: list[Effect]) -> list[ReportKind]:
    return [effect.kind for effect in effects if isinstance(effect, Report)]


def test_pick_passes_over_who_does_not_fit() -> None:
    clients = [Client(number, weight=weight) for number, weight in enumerate([6, 6, 0, 3, 2])]
    roster = Stage().device.roster
    assert [client.id for client in pick(clients, 10, roster)] == [0, 2, 3]


# While everything fits.


def test_everybody_is_let_in_at_once_while_everything_fits() -> None:
    stage = Stage()
    assert stage.join(1, 8) == [Grant(1, 1)]
    assert stage.join(2, 8) == [Grant(2, 2)]


def test_somebody_larger_than_the_device_runs_if_alone() -> None:
    assert granted(Stage().join(1, 20)) == [1]


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.CONCURRENT])
def test_without_scheduling_everybody_runs_whatever_happens(mode: Mode) -> None:
    stage = Stage(mode=mode)
    effects = [*stage.join(1, 16), *stage.join(2, 16), *stage.memory(1, 99), *stage.want(2)]
    assert effects == [Grant(1, 1), Grant(2, 2)]


def test_one_alone_in_serial_mode_runs_without_asking() -> None:
    stage = Stage(mode=Mode.SERIAL)
    assert stage.join(1) == [Grant(1, 1)]
    assert stage.join(2) == []


def test_a_turn_given_up_for_nobody_is_given_back() -> None:
    stage = Stage()
    stage.join(1, 8)
    assert stage.release(1) == [Grant(1, 2)]


def test_when_everything_fits_again_closed_gates_open() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.join(2, 12)
    assert stage.memory(2, 4) == [Grant(2, 2)]


# Taking turns.


def contended(**settings: Any) -> Stage:
    """Have 1 run with 12 bytes since the beginning, and 2 wait with 12."""
    stage = Stage(**settings)
    stage.join(1, 12)
    stage.busy(2, 12)
    return stage


def test_who_does_not_fit_waits_and_the_holder_is_asked() -> None:
    stage = Stage()
    stage.join(1, 12)
    assert stage.join(2, 12, swapped=12) == []
    effects = stage.want(2)
    assert Revoke(1, 1, Urgency.WHEN_IDLE, 8, 0.05) in effects
    assert timers(effects) == {TimerKind.TURN: stage.now + 30}


def test_a_holder_that_is_idle_gives_way_at_once() -> None:
    stage = contended()
    assert granted(stage.release(1)) == [2]


def test_a_holder_whose_turn_is_over_is_told_to_go() -> None:
    stage = contended()
    effects = stage.fire(TimerKind.TURN)
    assert told(effects) == [1]
    assert timers(effects) == {TimerKind.PATIENCE: stage.now + 30}
    assert stage.states() == {1: "yielding", 2: "waiting"}
    assert granted(stage.release(1, wants=True)) == [2]
    assert stage.states() == {1: "waiting", 2: "running"}


def test_a_turn_that_is_long_over_ends_as_soon_as_somebody_waits() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.join(2, 12)
    stage.now += 3600
    assert told(stage.want(2)) == [1]


def test_when_nobody_waits_any_more_the_holder_keeps_its_turn() -> None:
    stage = contended()
    stage.join(3, 12)
    effects = stage.leave(2)
    assert Keep(1, 1) in effects
    assert stage.device.state.alarms == {}


def test_when_everything_fits_again_the_holder_keeps_its_turn() -> None:
    stage = contended()
    effects = stage.memory(2, 4)
    assert Keep(1, 1) in effects
    assert granted(effects) == [2]


def test_the_turn_of_a_new_head_is_counted_from_its_beginning() -> None:
    stage = contended()
    stage.now += 10
    effects = stage.release(1, wants=True)
    assert timers(effects)[TimerKind.TURN] == stage.now + 30


def test_a_fixed_length_is_used_as_it_is() -> None:
    stage = contended(turn_seconds=7)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 7


def test_an_automatic_length_depends_on_what_has_to_move() -> None:
    # 8 of the 12 bytes go out while 12 come in, at 1 byte a second; times 5.
    stage = contended(initial_bandwidth=1)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 60


def test_serial_mode_takes_turns_even_if_all_would_fit() -> None:
    stage = Stage(mode=Mode.SERIAL)
    for client in (1, 2, 3):
        stage.busy(client, 1)
    order = []
    for _ in range(6):
        (leaving,) = told(stage.fire(TimerKind.TURN))
        order += granted(stage.release(leaving, wants=True))
    assert order == [2, 3, 1, 2, 3, 1]


# Groups.


def test_others_ride_along_if_they_fit_beside_holder_and_head() -> None:
    stage = contended()
    assert granted(stage.busy(3, 4)) == [3]
    assert granted(stage.busy(4, 4)) == []


def test_nobody_takes_the_room_that_the_head_will_need() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.busy(2, 12)
    # It would fit beside 1, but not beside 2, which has waited longer.
    assert granted(stage.busy(3, 8)) == []


def test_nobody_takes_the_room_that_the_head_needs_beside_those_who_stay() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 4)
    stage.busy(3, 12)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    # It would fit beside 1 and 2 now, and beside 3, but not beside 2 and 3.
    assert granted(stage.busy(4, 4)) == []
    assert granted(stage.release(1)) == [3]


def test_who_comes_and_may_go_before_the_head_becomes_the_head() -> None:
    stage = Stage(mode=Mode.SERIAL)
    for client in (3, 1, 2):
        stage.now += 1
        stage.join(client)
    stage.now += 1
    stage.want(2)
    # 1 has used as little, and has been there longer.
    stage.want(1)
    assert [client.id for client in stage.device.roster.waiting] == [1, 2]
    assert granted(stage.release(3)) == [1]


def test_a_rider_does_not_lengthen_the_turn() -> None:
    stage = contended()
    end = stage.device.state.alarms[TimerKind.TURN]
    stage.now += 20
    stage.busy(3, 4)
    assert stage.device.state.alarms[TimerKind.TURN] == end


def test_whoever_fits_into_the_next_group_goes_on_running() -> None:
    stage = contended()
    stage.busy(3, 4)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert granted(stage.release(1, wants=True)) == [2]
    assert stage.states() == {1: "waiting", 2: "running", 3: "running"}


def test_those_who_wait_come_before_those_who_run_now() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    stage.busy(3, 8)
    stage.busy(4, 8)
    assert told(stage.fire(TimerKind.TURN)) == [1, 2]
    assert granted(stage.release(1)) == [3]
    assert granted(stage.release(2)) == [4]


def test_of_those_who_run_the_latest_stay() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.now += 1
    stage.join(2, 8)
    stage.busy(3, 8)
    assert told(stage.fire(TimerKind.TURN)) == [1]


def test_a_small_one_is_let_in_while_others_give_way() -> None:
    stage = contended()
    stage.fire(TimerKind.TURN)
    assert granted(stage.busy(3, 0)) == [3]
    # The head is still the head, and the turn belongs to it.
    assert granted(stage.release(1)) == [2]


def test_the_device_is_never_idle_while_somebody_waits() -> None:
    stage = contended()
    assert granted(stage.leave(1)) == [2]


# Growing and shrinking.


def test_a_set_that_has_grown_is_split_at_once() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 4)
    stage.join(3, 4)
    effects = stage.memory(1, 12)
    assert reports(effects) == [ReportKind.SPLIT]
    assert told(effects) == [3]
    assert stage.states() == {1: "running", 2: "running", 3: "yielding"}


def test_who_weighs_nothing_is_not_split_off() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    stage.join(3)
    assert told(stage.memory(1, 12)) == [2]


def test_who_was_split_off_and_was_busy_gets_a_turn() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    stage.memory(2, 12)
    effects = stage.release(2, wants=True)
    assert asked(effects) == [1]
    assert granted(stage.release(1)) == [2]


def test_who_shrinks_lets_others_in_at_once() -> None:
    stage = contended()
    assert granted(stage.memory(1, 4)) == [2]


def test_who_grows_alone_is_left_alone() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 16, swapped=16)
    assert stage.memory(1, 30) == []


def test_who_has_no_memory_yet_is_in_nobodys_way() -> None:
    stage = contended()
    assert granted(stage.busy(3)) == [3]
    assert told(stage.memory(3, 10)) == [3]


def test_pinned_memory_takes_room_whether_its_owner_runs_or_not() -> None:
    stage = Stage()
    stage.join_native(1, 6)
    stage.join(2, 8)
    assert granted(stage.busy(3, 4)) == []
    assert granted(stage.release(1)) == []
    assert granted(stage.leave(1)) == [3]


def test_native_programs_do_not_take_turns() -> None:
    stage = contended()
    assert granted(stage.busy(3)) == [3]
    stage.leave(3)
    stage.join_native(4, 3)
    assert granted(stage.want(4)) == [4]


# Programs that do not answer.


def test_until_patience_is_over_only_those_who_fit_beside_the_silent_go_on() -> None:
    stage = contended()
    stage.fire(TimerKind.TURN)
    stage.now += 29
    assert granted(stage.busy(3, 12)) == []
    assert granted(stage.busy(4, 4)) == [4]


def test_after_patience_the_others_go_on_without_the_silent() -> None:
    stage = contended()
    stage.fire(TimerKind.TURN)
    effects = stage.fire(TimerKind.PATIENCE)
    assert reports(effects) == [ReportKind.OVERDUE]
    assert granted(effects) == [2]
    assert stage.states() == {1: "yielding", 2: "running"}


def test_a_silent_program_that_answers_after_all_waits_its_turn() -> None:
    stage = contended()
    stage.fire(TimerKind.TURN)
    stage.fire(TimerKind.PATIENCE)
    assert granted(stage.release(1, wants=True)) == []
    # It has used more than its turn, so the turn of the other one is longer.
    assert told(stage.fire(TimerKind.TURN)) == []
    assert told(stage.fire(TimerKind.TURN)) == [2]
    assert granted(stage.release(2, wants=True)) == [1]


def test_a_silent_program_is_reported_once() -> None:
    stage = contended()
    stage.fire(TimerKind.TURN)
    stage.fire(TimerKind.PATIENCE)
    stage.now += 1000
    assert reports(stage.want(2)) == []


# After a restart.


def test_nobody_is_let_in_until_those_who_run_have_had_time_to_register() -> None:
    stage = Stage(reconnect_seconds=1.0)
    assert timers(stage.opening) == {TimerKind.RECONNECT: stage.now + 1}
    assert stage.busy(1, 12) == []
    assert stage.join(2, 12, running=True, turn=5) == []
    stage.now += 1
    effects = stage.fire(TimerKind.RECONNECT)
    assert granted(effects) == []
    assert asked(effects) == [2]


# Changes of mode.


def test_a_change_to_serial_splits_what_runs_together() -> None:
    stage = Stage()
    for client in (1, 2, 3):
        stage.join(client, 1)
    assert told(stage.change(mode=Mode.SERIAL)) == [3, 2]


def test_a_change_to_concurrent_lets_everybody_in() -> None:
    stage = contended()
    effects = stage.change(mode=Mode.CONCURRENT)
    assert granted(effects) == [2]
    assert Keep(1, 1) in effects
    assert stage.device.state.alarms == {}


def test_a_turn_is_lengthened_for_one_who_has_grown_at_its_end() -> None:
    # 1 and 3 run beside the rest of 2 on the device, and 4 waits. Two bytes move in a second.
    stage = Stage(initial_bandwidth=2)
    stage.join(1, 2)
    stage.join(3, 8)
    stage.join(2, 12)
    stage.moved(2, Memory(12, 0, 6), out_bytes=6)
    stage.busy(4, 12)
    end = stage.device.state.alarms[TimerKind.TURN]
    assert end == stage.now + 30
    stage.now += 29
    # Six bytes leave for it, which takes three seconds: that pays off in five times as many.
    stage.memory(1, 8)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 15


def waiting_for_one() -> Stage:
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    return stage


def test_no_timer_runs_while_nobody_waits() -> None:
    stage = Stage()
    stage.join(1, 12)
    assert stage.join(2, 4) == [Grant(2, 2)]


def test_a_timer_that_fires_early_is_set_again() -> None:
    stage = waiting_for_one()
    at = stage.device.state.alarms[TimerKind.TURN]
    assert stage.fire(TimerKind.TURN, stage.now + 1) == [SetTimer(Timer(GPU, TimerKind.TURN), at)]


def test_a_timer_that_fires_in_vain_does_nothing() -> None:
    stage = Stage()
    assert stage.fire(TimerKind.PATIENCE, stage.now) == []


def test_a_timer_that_nobody_needs_is_cancelled() -> None:
    stage = waiting_for_one()
    assert CancelTimer(Timer(GPU, TimerKind.TURN)) in stage.leave(1)
