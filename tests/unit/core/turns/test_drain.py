"""Three clients of 12 bytes that ran without a daemon, on a device of 16."""

import pytest

from nvshare.core.effects import Effect, Room
from nvshare.core.events import TimerKind
from nvshare.core.memory import Kind, Memory
from nvshare.core.turns.drain import AGAIN, DRAIN_PATIENCE, HELP_PATIENCE

from ..stage import Stage, granted, told


def helped(effects: list[Effect]) -> list[int]:
    """Return the clients that are told to bring all their memory in."""
    return [one.client for one in effects if isinstance(one, Room) and one.missing == 0]


def thrashing(kind: Kind = Kind.MANAGED) -> Stage:
    """Client 2 has a turn. The others have waited for long, and run without one."""
    stage = Stage(reconnect_seconds=1.0)
    for client in (1, 2, 3):
        ungranted = client != 2
        stage.join(client, 12, kind=kind, running=True, turn=client, ungranted=ungranted)
    return stage


def out(stage: Stage, client: int) -> list[Effect]:
    """A client gives way, and its memory has left."""
    return stage.release(client, wants=True, memory=Memory(12, swapped=12))


def test_who_has_a_turn_keeps_it_whoever_came_last() -> None:
    assert sorted(told(thrashing().fire(TimerKind.RECONNECT))) == [1, 3]


def test_with_turns_of_the_same_kind_the_first_one_stays() -> None:
    stage = Stage(reconnect_seconds=1.0)
    for client in (1, 2, 3):
        stage.join(client, 12, running=True, turn=client)
    assert told(stage.fire(TimerKind.RECONNECT)) == [3, 2]


def test_once_it_has_had_a_turn_it_is_as_good_as_others() -> None:
    stage = thrashing()
    stage.fire(TimerKind.RECONNECT)
    for client in (3, 1):
        out(stage, client)
    stage.leave(2)
    assert not any(one.turn.ungranted for one in stage.device.roster.running.values())


def test_one_at_a_time_brings_its_memory_in_so_that_it_can_drain() -> None:
    stage = thrashing()
    first, second = told(stage.fire(TimerKind.RECONNECT))
    began = stage.now
    assert helped(stage.fire(TimerKind.DRAIN)) == [first]
    assert stage.now == began + DRAIN_PATIENCE
    # The next one when that has drained.
    out(stage, first)
    assert helped(stage.fire(TimerKind.DRAIN)) == [second]
    assert stage.now <= began + 2 * DRAIN_PATIENCE


def test_what_its_work_brings_in_without_a_turn_counts_as_used() -> None:
    stage = Stage(reconnect_seconds=1.0)
    stage.join(1, 12, running=True, turn=1)
    stage.join(2, 12, swapped=8, running=True, turn=1, ungranted=True)
    assert told(stage.fire(TimerKind.RECONNECT)) == [2]
    assert helped(stage.fire(TimerKind.DRAIN)) == [2]


def test_it_is_told_so_again_since_the_others_push_its_memory_out() -> None:
    stage = thrashing()
    first, _ = told(stage.fire(TimerKind.RECONNECT))
    stage.fire(TimerKind.DRAIN)
    began = stage.now
    assert helped(stage.fire(TimerKind.DRAIN)) == [first]
    assert stage.now == began + AGAIN


def test_one_that_does_not_drain_all_the_same_holds_the_others_up_for_a_while_only() -> None:
    stage = thrashing()
    first, second = told(stage.fire(TimerKind.RECONNECT))
    stage.fire(TimerKind.DRAIN)
    began = stage.now
    while (now := helped(stage.fire(TimerKind.DRAIN))) == [first]:
        assert stage.now < began + HELP_PATIENCE
    assert now == [second]
    # The patience with it begins only now.
    assert stage.device.roster.clients[second].since == stage.now


def test_who_goes_on_gets_its_memory_back_when_the_others_have_moved_out() -> None:
    stage = thrashing()
    first, second = told(stage.fire(TimerKind.RECONNECT))
    assert helped(out(stage, first)) == []
    assert helped(out(stage, second)) == [2]


@pytest.mark.parametrize("kind", [Kind.EXPLICIT, Kind.NATIVE])
def test_memory_that_no_driver_pages_needs_no_help(kind: Kind) -> None:
    stage = thrashing(kind)
    stage.fire(TimerKind.RECONNECT)
    assert TimerKind.DRAIN not in stage.device.state.alarms


def test_an_ordinary_end_of_a_turn_needs_none_either() -> None:
    stage = Stage(turn_seconds=10.0)
    stage.join(1, 12)
    stage.busy(2, 12)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert TimerKind.DRAIN not in stage.device.state.alarms
    assert granted(stage.release(1, memory=Memory(12, swapped=12))) == [2]
