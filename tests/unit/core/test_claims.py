"""A client that computes in bursts (2), beside one that computes all the time (1), on 16 bytes.

Moving 12 bytes takes 1 s here, so that a burst costs 2 s of moving.
"""

from typing import Any

import pytest

from nvshare.core.effects import Effect, Report, ReportKind
from nvshare.core.events import CannotDrain, LimitsChanged, Reason, TimerKind
from nvshare.core.memory import Memory
from nvshare.core.settings import Limits, Priority

from .stage import Stage, asked, granted, timers, told

HIGH = Limits(priority=Priority.HIGH)


def begin(**settings: Any) -> Stage:
    """Have 1 in its second turn, and 2 rest after its first."""
    stage = Stage(initial_bandwidth=12.0, **settings)
    stage.join(1, 12)
    stage.busy(2, 12)
    stage.now += 30
    stage.fire(TimerKind.TURN, at=stage.now)
    switch(stage, 1, 2)
    stage.release(2, memory=Memory(12, 0, 12))
    bring_in(stage, 1)
    return stage


def switch(stage: Stage, going: int, coming: int) -> list[Effect]:
    """Have one give way, with all its memory, and the other come."""
    effects = stage.release(going, wants=True, memory=Memory(12, 0, 12), moved_bytes=12)
    bring_in(stage, coming)
    return effects


def bring_in(stage: Stage, client: int) -> None:
    stage.moved(client, Memory(12), in_bytes=12, seconds=1.0)


def wait_for_a_whole_turn(stage: Stage, client: int) -> None:
    """Have a client wait that has had turns before, and has not rested."""
    stage.join(client, 12, swapped=12, turn=1)
    stage.want(client)


def test_who_has_rested_does_not_wait_for_the_end_of_the_turn() -> None:
    stage = begin()
    stage.now += 20
    assert told(stage.want(2)) == [1]
    assert granted(switch(stage, 1, 2)) == [2]


def test_who_has_hardly_rested_waits() -> None:
    stage = begin()
    stage.now += 3
    effects = stage.want(2)
    assert told(effects) == []
    assert asked(effects) == [1]


def test_who_was_interrupted_goes_on_with_the_rest_of_its_turn() -> None:
    stage = begin()
    wait_for_a_whole_turn(stage, 3)
    stage.now += 20
    stage.want(2)
    switch(stage, 1, 2)
    stage.now += 1
    # It goes before 3, which has waited longer for a whole turn.
    assert granted(stage.release(2, memory=Memory(12, 0, 12))) == [1]
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 10


def test_it_does_not_count_as_a_turn_that_did_not_pay() -> None:
    stage = begin()
    reports = []
    for _ in range(4):
        stage.now += 20
        stage.want(2)
        stage.now += 0.1
        reports += switch(stage, 1, 2)
        stage.now += 1
        reports += stage.release(2, memory=Memory(12, 0, 12))
        bring_in(stage, 1)
    kinds = [effect.kind for effect in reports if isinstance(effect, Report)]
    assert ReportKind.UNPRODUCTIVE not in kinds
    assert stage.device.state.pace.stretch == 1.0


def test_a_burst_that_does_not_end_is_over_when_its_credit_is() -> None:
    stage = begin()
    stage.now += 20
    stage.want(2)
    switch(stage, 1, 2)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 10
    assert told(stage.fire(TimerKind.TURN)) == [2]


def test_those_who_compute_in_bursts_are_served_one_after_the_other() -> None:
    stage = begin()
    stage.join(3, 12, turn=1, swapped=12)
    stage.now += 30
    stage.want(2)
    switch(stage, 1, 2)
    # It could come at once, and waits for as long as the other has credit.
    effects = stage.want(3)
    assert told(effects) == []
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 10
    stage.now += 1
    assert granted(stage.release(2, memory=Memory(12, 0, 12))) == [3]


def test_who_comes_in_a_burst_goes_before_those_who_wait_for_a_whole_turn() -> None:
    stage = begin()
    wait_for_a_whole_turn(stage, 3)
    assert stage.device.state.head == 3
    stage.now += 20
    stage.want(2)
    assert stage.device.state.head == 2


def test_when_the_budget_is_used_up_waits_grow_but_never_beyond_the_turn() -> None:
    stage = begin(turn_seconds=100.0, turn_min=30.0, move_budget=0.04)
    waits = []
    for _ in range(4):
        stage.now += 20
        began = stage.now
        if told(stage.want(2)) == []:
            assert told(stage.fire(TimerKind.TURN)) == [1]
        waits.append(stage.now - began)
        switch(stage, 1, 2)
        stage.now += 1
        stage.release(2, memory=Memory(12, 0, 12))
        bring_in(stage, 1)
    assert waits == sorted(waits)
    assert waits[0] == 0 < waits[-1] <= 80


def test_without_a_budget_everybody_waits_for_the_end_of_the_turn() -> None:
    stage = begin(move_budget=0.0)
    stage.now += 20
    assert timers(stage.want(2))[TimerKind.TURN] == stage.now + 10


def test_somebody_who_has_just_come_has_its_first_seconds_at_once() -> None:
    stage = begin()
    stage.now += 5
    assert told(stage.busy(3, 12)) == [1]
    switch(stage, 1, 3)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 5


def test_a_first_turn_lasts_as_long_as_any_other() -> None:
    stage = Stage(initial_bandwidth=12.0)
    stage.join(1, 12)
    stage.now += 5
    assert timers(stage.busy(2, 12))[TimerKind.TURN] == stage.now + 25


def test_a_higher_priority_interrupts_without_having_rested() -> None:
    stage = begin()
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=HIGH))
    assert told(stage.want(2)) == [1]


def test_who_interrupts_by_its_priority_alone_has_a_whole_turn() -> None:
    stage = begin()
    stage.join(3, 12, swapped=12, turn=1)
    for client in (2, 3):
        stage.core.handle(LimitsChanged(now=stage.now, client=client, limits=HIGH))
    stage.want(2)
    switch(stage, 1, 2)
    stage.want(3)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 30


def interrupt_by_priority(stage: Stage, seconds: float) -> None:
    """Have 2, of high priority and without a rest, compute for some seconds, and 1 go on."""
    stage.want(2)
    switch(stage, 1, 2)
    stage.now += seconds
    stage.release(2, memory=Memory(12, 0, 12), reason=Reason.IDLE)
    bring_in(stage, 1)


def test_the_turn_of_one_who_interrupts_by_its_priority_alone_is_charged_to_the_budget() -> None:
    stage = begin()
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=HIGH))
    before = stage.device.state.budget.saved or 0.0
    interrupt_by_priority(stage, 4.0)
    spent = before - (stage.device.state.budget.saved or 0.0)
    # Its turn, a second for its memory, and one for the memory that comes back; less the savings.
    assert spent == pytest.approx(3.0 + 1.0 + 1.0 - 0.4)


def test_who_has_credit_has_paid_for_its_turn() -> None:
    stage = begin()
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=HIGH))
    stage.now += 20
    before = stage.device.state.budget.saved or 0.0
    interrupt_by_priority(stage, 4.0)
    assert before - (stage.device.state.budget.saved or 0.0) <= 2.0


def test_who_interrupts_by_its_priority_alone_gains_nothing_by_what_the_turn_had_lasted() -> None:
    stage = begin()
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=HIGH))
    stage.now += 25
    stage.device.roster.clients[2].credit = -30.0
    interrupt_by_priority(stage, 1.0)
    stage.device.state.budget.owe(100.0, 0.1, 30.0)
    served = stage.now
    stage.now += 1
    stage.want(2)
    assert stage.device.state.alarms[TimerKind.TURN] == served + 30


def test_who_could_not_interrupt_has_a_whole_turn_later() -> None:
    stage = begin()
    stage.now += 20
    stage.want(2)
    # It finds that it cannot give way, and runs on; it gives up its turn much later.
    stage.core.handle(CannotDrain(now=stage.now, client=1, turn=3))
    stage.now += 60
    stage.release(1, wants=True, memory=Memory(12, 0, 12), reason=Reason.IDLE)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 30


@pytest.mark.parametrize(("high", "prompt"), [(False, True), (True, False)])
def test_others_leave_half_of_the_budget_to_a_higher_priority(*, high: bool, prompt: bool) -> None:
    stage = begin()
    stage.device.state.budget.spend(8.0)
    stage.join(3, 1, limits=HIGH if high else Limits())
    stage.now += 20
    assert (told(stage.want(2)) == [1]) is prompt


def test_high_priority_may_have_a_budget_of_its_own() -> None:
    stage = begin(move_budget=0.0, high_move_budget=0.1)
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=HIGH))
    stage.now += 20
    assert told(stage.want(2)) == [1]
    assert stage.device.state.high_budget.saved == pytest.approx(12.0 - 2.0)


def test_what_high_priority_moves_from_its_own_budget_is_not_taken_from_the_common_one() -> None:
    stage = begin(move_budget=0.1, high_move_budget=0.1)
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=HIGH))
    stage.now += 20
    stage.want(2)
    before = stage.device.state.budget.saved
    switch(stage, 1, 2)
    assert stage.device.state.budget.saved == before
