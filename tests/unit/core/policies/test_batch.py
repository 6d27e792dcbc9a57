import pytest

from nvshare.core.events import TimerKind
from nvshare.core.memory import Memory
from nvshare.core.policies import HEAD_START_TURNS, find_policy
from nvshare.core.record.client import Client
from nvshare.core.record.precedence import Precedence
from nvshare.core.settings import DEFAULTS, NO_LIMITS, Limits, Priority

from ..stage import Stage, granted, timers, told

HIGH = Limits(priority=Priority.HIGH)


def rank(client: Client) -> float:
    return find_policy("batch").rank(client, DEFAULTS, 30.0)


def test_it_goes_by_arrival() -> None:
    assert rank(Client(1, precedence=Precedence(served_at=5), since=9)) < rank(
        Client(2, precedence=Precedence(served_at=6), since=7)
    )


def test_a_higher_priority_is_a_head_start_of_more_than_a_whole_turn() -> None:
    head_start = DEFAULTS.batch_turn + HEAD_START_TURNS * 30.0
    assert rank(Client(1, precedence=Precedence(served_at=head_start - 1), limits=HIGH)) < rank(
        Client(2)
    )
    assert rank(Client(1, precedence=Precedence(served_at=head_start + 1), limits=HIGH)) > rank(
        Client(2)
    )


def test_who_has_a_turn_keeps_it() -> None:
    stage = Stage(policy="batch")
    stage.join(1, 12)
    effects = stage.busy(2, 12)
    assert timers(effects) == {TimerKind.TURN: stage.now + stage.settings.batch_turn}


def test_but_not_for_ever() -> None:
    stage = Stage(policy="batch", batch_turn=100.0)
    stage.join(1, 12)
    stage.busy(2, 12)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert stage.now == 1100.0


def begin(third: Limits = NO_LIMITS) -> Stage:
    """Have 1 run for 100 s, 2 wait for its end, and 3 rest. Moving one takes a second."""
    stage = Stage(policy="batch", initial_bandwidth=12.0)
    stage.join(1, 12)
    stage.join(3, 12, swapped=12, limits=third, turn=1)
    stage.now += 1
    stage.busy(2, 12)
    stage.now += 99
    return stage


def change(stage: Stage, going: int, *, wants: bool) -> list[int]:
    """Have one give way with all its memory; return who comes, with all of its own."""
    effects = stage.release(going, wants=wants, memory=Memory(12, 0, 12), moved_bytes=12)
    for client in granted(effects):
        stage.moved(client, Memory(12), in_bytes=12, seconds=1.0)
    return granted(effects)


def visit(stage: Stage, client: int) -> None:
    """Have a client that has rested interrupt 1."""
    assert told(stage.want(client)) == [1]
    assert change(stage, 1, wants=True) == [client]


def ends(stage: Stage) -> float:
    return stage.device.state.alarms[TimerKind.TURN]


def test_who_is_interrupted_goes_on_afterwards_and_has_its_turn_in_parts() -> None:
    stage = begin()
    for _ in range(3):
        visit(stage, 3)
        stage.now += 5
        # The next program would be 2 if the turn of 1 were over.
        assert change(stage, 3, wants=False) == [1]
        stage.now += 100
    # It has computed for 400 s of its turn.
    stage.leave(3)
    assert ends(stage) == pytest.approx(stage.now - 400 + stage.settings.batch_turn)


def test_a_visitor_that_does_not_rest_soon_is_one_of_those_that_compute_all_the_time() -> None:
    stage = begin()
    visit(stage, 3)
    began = stage.now
    assert told(stage.fire(TimerKind.TURN)) == [3]
    assert stage.now == began + stage.settings.turn_min
    assert change(stage, 3, wants=True) == [1]


def test_a_visit_that_another_one_interrupts_goes_on_before_the_others() -> None:
    stage = begin()
    stage.join(4, 12, swapped=12, limits=HIGH, turn=1)
    visit(stage, 3)
    stage.now += 20
    assert told(stage.want(4)) == [3]
    assert change(stage, 3, wants=True) == [4]
    stage.now += 1
    # 1 was interrupted before it, and has waited for longer.
    assert change(stage, 4, wants=False) == [3]
    # It has the rest of its turn.
    assert ends(stage) == pytest.approx(stage.now + stage.settings.turn_min - 20)


def test_who_comes_back_after_a_short_rest_waits_for_the_end() -> None:
    stage = begin()
    visit(stage, 3)
    stage.now += 5
    change(stage, 3, wants=False)
    stage.now += 0.5
    assert told(stage.want(3)) == []
    assert ends(stage) > stage.now + 1000


def test_a_higher_priority_need_not_have_rested() -> None:
    stage = begin(HIGH)
    visit(stage, 3)
    assert change(stage, 3, wants=False) == [1]
    stage.now += 0.5
    assert told(stage.want(3)) == [1]
