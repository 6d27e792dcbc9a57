"""1 computes, 2 waits for its end and has a part of its memory on the device, 3 rests."""

import pytest

from nvshare.core.effects import Effect, Evict
from nvshare.core.events import MemoryChanged, ParkChanged, TimerKind
from nvshare.core.memory import Memory
from nvshare.core.settings import Limits, Priority

from ..stage import Stage, told

AWAY = Memory(6, 0, 6)


def begin(
    resting: Memory = AWAY,
    policy: str = "batch",
    priority: Priority = Priority.NORMAL,
) -> Stage:
    """Have 12 bytes of 1 and 4 of 2 on the device, which is full then."""
    stage = Stage(policy=policy, initial_bandwidth=12.0)
    stage.join(1, 12)
    stage.join(2, 6, swapped=2, turn=1, limits=Limits(priority=priority))
    stage.join(3, resting.allocated, swapped=resting.swapped, turn=1)
    return stage


def evictions(effects: list[Effect]) -> list[Evict]:
    return [one for one in effects if isinstance(one, Evict)]


def test_who_waits_for_an_end_leaves_the_room_to_who_rests() -> None:
    stage = begin()
    assert evictions(stage.want(2)) == [Evict(2, 4)]


def test_it_leaves_no_more_than_is_of_use() -> None:
    stage = begin(Memory(1, 0, 1))
    assert evictions(stage.want(2)) == [Evict(2, 1)]


@pytest.mark.parametrize(("policy", "resting"), [("fair", AWAY), ("batch", Memory(1, 0, 0))])
def test_but_only_if_somebody_has_a_use_for_it(policy: str, resting: Memory) -> None:
    stage = begin(resting, policy)
    assert not evictions(stage.want(2))


def test_who_is_about_to_come_does_not_make_way() -> None:
    stage = Stage(policy="batch", initial_bandwidth=12.0)
    stage.join(1, 4)
    stage.join(5, 8)
    stage.join(2, 10, swapped=6, turn=1)
    stage.want(2)
    assert told(stage.fire(TimerKind.TURN)) == [5]
    # It fits beside 1, and comes as soon as 5 has gone.
    assert not evictions(stage.join(3, 12, swapped=12, turn=1))


def test_nor_does_who_goes_before_the_running_ones() -> None:
    stage = begin(priority=Priority.HIGH)
    assert not evictions(stage.want(2))


def test_the_one_that_will_run_last_leaves_first() -> None:
    stage = Stage(initial_bandwidth=12.0)
    stage.join(1, 10)
    for client in (2, 4):
        stage.join(client, 8, swapped=5, turn=1)
    stage.want(2)
    stage.want(4)
    stage.join(3, 2, swapped=2, turn=1)
    effects = stage.change(policy="batch", initial_bandwidth=12.0)
    assert evictions(effects) == [Evict(4, 2)]


def test_who_pays_a_visit_keeps_its_room() -> None:
    stage = begin()
    # It has rested for long enough, and waits only until the other has used more.
    stage.now += 1
    assert not evictions(stage.want(2))
    assert stage.device.roster.clients[2].precedence.visits


def test_who_was_interrupted_keeps_its_room() -> None:
    stage = begin()
    stage.device.roster.clients[2].precedence.interrupted = 5.0
    assert not evictions(stage.want(2))


def test_who_is_parked_has_no_use_for_room() -> None:
    stage = begin()
    stage.core.handle(ParkChanged(now=stage.now, client=3, parked=True))
    assert not evictions(stage.want(2))


def test_memory_that_was_never_used_has_no_use_for_room() -> None:
    stage = begin()
    unused = Memory(6, 0, 6, untouched=6)
    stage.core.handle(MemoryChanged(now=stage.now, client=3, memory=unused))
    assert not evictions(stage.want(2))
