"""A rank that has to catch up with others, and has no room for its memory: others make room."""

from typing import Any

import pytest

from nvshare.core.effects import Effect, Room, StepOnce, Trim
from nvshare.core.events import HostMemoryChanged, MemoryChanged, Moved, TimerKind
from nvshare.core.memory import Memory
from nvshare.core.settings import Mode
from nvshare.core.turns.revoke import ROOM_PATIENCE

from ..stage import granted
from .stage import Stage, holds


@pytest.fixture
def stage() -> Stage:
    """10 is ahead of 11, which has grown beside 21 and holds; the order to make room is given."""
    stage = Stage()
    stage.join(21)
    stage.memory(21, 12)
    stage.gang(10, 11, size=0)
    grown = MemoryChanged(now=stage.now, client=11, memory=Memory(12, 0, 12), ticket=1)
    assert sorted(holds(stage.core.handle(grown))) == [10, 11]
    began = stage.now
    stage.held(11, waits=True)
    assert orders(stage.fire(1, TimerKind.STEP)) == [Trim(21, 8)]
    # The work that 21 had launched has ended by then, or waits for another client.
    assert stage.now == pytest.approx(began + ROOM_PATIENCE)
    return stage


def orders(effects: list[Effect]) -> list[Effect]:
    return [effect for effect in effects if isinstance(effect, Trim | Room | StepOnce)]


def go(stage: Stage) -> list[Effect]:
    turn = stage.client(11).turn.number
    return [Room(11, turn, 0), StepOnce(11, turn)]


def test_it_steps_when_others_have_moved_out(stage: Stage) -> None:
    turn = stage.client(21).turn.number
    memory = Memory(12, 0, 8)
    moved = Moved(now=stage.now, client=21, turn=turn, memory=memory, out_bytes=8, seconds=0.1)
    assert orders(stage.core.handle(moved)) == go(stage)
    assert stage.alarm(1, TimerKind.STEP) is None


def test_it_does_not_wait_for_those_who_do_not_move(stage: Stage) -> None:
    began = stage.now
    assert orders(stage.fire(1, TimerKind.STEP)) == go(stage)
    assert stage.now == pytest.approx(began + ROOM_PATIENCE)


def test_nobody_is_told_twice_to_make_the_same_room(stage: Stage) -> None:
    stage.fire(1, TimerKind.STEP)
    # Its memory is still not there, for whatever reason.
    assert orders(stage.held(11, waits=True)) == []
    assert orders(stage.fire(1, TimerKind.STEP)) == go(stage)


def test_who_made_room_is_told_when_it_can_have_its_memory_back(stage: Stage) -> None:
    turn, other = stage.client(21).turn.number, stage.client(11).turn.number
    away = Memory(12, 0, 8)
    moved = Moved(now=stage.now, client=21, turn=turn, memory=away, out_bytes=8, seconds=0.1)
    stage.core.handle(moved)
    # 11 has caught up, and has its memory. Its whole gang is revoked.
    stage.held(11)
    assert orders(stage.held(10)) == []
    assert orders(stage.release(10)) == []
    gone = stage.release(11, wants=True, memory=Memory(12))
    assert orders(gone) == []
    memory = Memory(12, 0, 8)
    left = Moved(now=stage.now, client=11, turn=other, memory=memory, out_bytes=8, seconds=0.1)
    assert orders(stage.core.handle(left)) == [Room(21, turn, 0)]
    assert not stage.core._devices["gpu1"].state.lenders


def crossed(**settings: Any) -> Stage:
    """Two gangs that have begun the other way round: 10 and 21 run, 20 and 11 have come later."""
    stage = Stage(mode=Mode.SERIAL, **settings)
    stage.join(10, group="a")
    stage.want(10)
    stage.join(21, group="b")
    stage.want(21)
    stage.join(20, group="b")
    stage.join(11, group="a")
    assert holds(stage.want(20)) == [21]
    assert holds(stage.want(11)) == [10]
    return stage


def test_gangs_that_began_the_other_way_round_let_their_late_ranks_in() -> None:
    stage = crossed()
    began = stage.now
    effects = stage.fire(0, TimerKind.STEP)
    assert stage.now == pytest.approx(began + ROOM_PATIENCE)
    # Each is let in and holds at once, so that it catches up call by call.
    assert sorted(granted(effects)) == sorted(holds(effects)) == [11, 20]
    for client in (10, 11, 20, 21):
        stage.held(client)
    for client in (10, 11, 20, 21):
        stage.release(client, wants=True)
    # All have drained, and one gang has both devices.
    assert stage.states(10, 11, 20, 21) in (
        ["running", "running", "waiting", "waiting"],
        ["waiting", "waiting", "running", "running"],
    )


def test_who_drains_in_time_is_not_joined_by_the_others() -> None:
    stage = crossed()
    effects = stage.held(21)
    assert granted(effects) == []
    stage.release(21, wants=True)
    assert stage.alarm(0, TimerKind.STEP) is not None
    assert stage.alarm(1, TimerKind.STEP) is None


def test_a_rank_that_is_parked_by_hand_is_not_let_in() -> None:
    stage = crossed()
    stage.park(11)
    assert stage.alarm(0, TimerKind.STEP) is None
    assert stage.alarm(1, TimerKind.STEP) is not None


def test_a_rank_is_not_let_in_where_it_would_push_out_what_the_host_cannot_hold() -> None:
    stage = Stage()
    for client, group in ((10, "a"), (21, "b")):
        stage.join(client, 12, group)
        stage.want(client)
        stage.memory(client, 12)
    for client, group in ((20, "b"), (11, "a")):
        stage.join(client, 12, group)
        stage.want(client)
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=0))
    assert stage.alarm(0, TimerKind.STEP) is None
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=100))
    assert sorted(granted(stage.fire(0, TimerKind.STEP))) == [11, 20]
