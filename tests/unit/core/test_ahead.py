"""Two clients that do not fit beside each other on 16 bytes, where another client makes room."""

from nvshare.core.ahead import fill_ahead
from nvshare.core.effects import Effect, Evict, Fill
from nvshare.core.events import Moved, ParkChanged, TimerKind
from nvshare.core.memory import Kind, Memory
from nvshare.core.settings import Mode, Way

from .stage import Stage, granted


def fills(effects: list[Effect]) -> list[tuple[int, int]]:
    return [(one.client, one.fill_bytes) for one in effects if isinstance(one, Fill)]


def evicted(effects: list[Effect]) -> list[tuple[int, int]]:
    return [(one.client, one.evict_bytes) for one in effects if isinstance(one, Evict)]


def begin(kind: Kind = Kind.MANAGED) -> Stage:
    """Have 1 (8 bytes) and 2 (7) run, and 3 wait with 12 that are on the host."""
    stage = Stage(initial_bandwidth=12.0)
    stage.join(1, 8)
    stage.join(2, 7)
    stage.join(3, 12, swapped=12, turn=1, kind=kind)
    assert fills(stage.want(3)) == [(3, 1)]
    stage.moved(3, Memory(12, 0, 11), in_bytes=1, seconds=0.1)
    return stage


def ahead(stage: Stage) -> int:
    return stage.device.roster.clients[3].ahead


def test_who_is_next_brings_in_what_there_is_room_for_when_somebody_ends() -> None:
    stage = begin()
    assert fills(stage.leave(2)) == [(3, 7)]
    assert ahead(stage) == 7
    assert stage.device.roster.closed_bytes == 8


def test_explicit_memory_as_well() -> None:
    assert fills(begin(Kind.EXPLICIT).leave(2)) == [(3, 7)]


def test_not_where_nobody_knows_what_would_come() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(3, 12, swapped=12, turn=1, kind=Kind.MIXED)
    assert fills(stage.want(3)) == []


def test_when_somebody_shrinks_or_is_parked() -> None:
    assert fills(begin().memory(2, 3)) == [(3, 4)]
    stage = begin()
    stage.core.handle(ParkChanged(now=stage.now, client=2, parked=True))
    effects = stage.release(2, memory=Memory(7, 0, 7), moved_bytes=7)
    assert fills(effects) == [(3, 7)]


def test_not_into_what_is_still_on_its_way_out() -> None:
    stage = begin()
    stage.core.handle(ParkChanged(now=stage.now, client=2, parked=True))
    assert fills(stage.release(2, memory=Memory(7, 0, 7), left=5)) == [(3, 2)]
    # The rest comes when that has left, and the first part was reported.
    assert fills(stage.moved(2, Memory(7, 0, 7), out_bytes=5)) == []
    assert fills(stage.moved(3, Memory(12, 0, 9), in_bytes=2)) == [(3, 5)]


def test_only_what_is_on_the_host() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(3, 12, swapped=12)
    stage.memory(3, 12, swapped=12)
    stage.device.roster.clients[3].memory = Memory(12, 0, 12, untouched=12)
    assert fills(stage.want(3)) == []


def test_nobody_is_pushed_out_for_it() -> None:
    stage = begin()
    stage.release(2, memory=Memory(7))
    assert stage.device.roster.idle
    assert ahead(stage) == 0
    assert evicted(stage.memory(1, 7)) == []


def test_the_turn_begins_with_the_rest_only() -> None:
    stage = begin()
    stage.leave(2)
    stage.moved(3, Memory(12, 0, 4), in_bytes=7, seconds=0.5)
    assert ahead(stage) == 0
    effects = stage.fire(TimerKind.TURN)
    (revoke,) = (one for one in effects if getattr(one, "client", None) == 1)
    assert revoke.evict_bytes == 4  # type: ignore[attr-defined]


def test_a_turn_that_begins_meanwhile_takes_over() -> None:
    stage = begin()
    stage.leave(2)
    stage.fire(TimerKind.TURN)
    assert granted(stage.release(1, memory=Memory(8, 0, 4), moved_bytes=4)) == [3]
    assert ahead(stage) == 0
    # A report that was on its way only changes how much is known to be there.
    late = Moved(now=stage.now, client=3, turn=1, memory=Memory(12, 0, 5), in_bytes=6, seconds=0.5)
    stage.core.handle(late)
    assert stage.device.roster.clients[3].memory.swapped == 5


def test_it_is_stopped_when_the_room_is_needed_and_what_has_come_leaves_if_it_has_to() -> None:
    stage = begin()
    stage.leave(2)
    effects = stage.memory(1, 12, ticket=1)
    assert fills(effects) == [(3, 0)]
    assert evicted(effects) == []
    # Until its report, it is unknown how much of the room is taken.
    assert stage.device.roster.clients[1].missing == 4
    effects = stage.moved(3, Memory(12, 0, 6), in_bytes=5, seconds=0.4)
    assert evicted(effects) == [(3, 2)]
    assert fills(effects) == []


def test_who_needs_more_than_that_has_others_leave_at_once() -> None:
    stage = begin()
    stage.release(2, memory=Memory(7))
    stage.memory(1, 6)
    assert ahead(stage) == 2
    effects = stage.memory(1, 12, ticket=1)
    assert fills(effects) == [(3, 0)]
    assert evicted(effects) == [(2, 4)]


def test_nobody_is_told_to_stop_twice() -> None:
    stage = begin()
    stage.leave(2)
    stage.memory(1, 12, ticket=1)
    assert fills(stage.memory(1, 13, ticket=2)) == []


def test_what_is_beyond_a_limit_stays_on_the_host() -> None:
    stage = begin()
    stage.device.roster.set_over_limit(stage.device.roster.clients[3], 9)
    assert fills(stage.leave(2)) == [(3, 2)]


def test_what_has_come_by_a_report_in_between_counts_once() -> None:
    stage = begin()
    stage.leave(2)
    effects = stage.memory(3, 12, swapped=8)
    assert ahead(stage) == 4
    assert stage.device.roster.closed_bytes == 8
    assert (fills(effects), evicted(effects)) == ([], [])


def test_nobody_is_charged_for_it() -> None:
    stage = begin()
    stage.leave(2)
    moving = stage.device.state.pace.moving
    stage.moved(3, Memory(12, 0, 4), in_bytes=7, seconds=0.5)
    assert stage.device.state.pace.moving == moving


def test_who_dies_takes_it_along() -> None:
    stage = begin()
    stage.leave(2)
    stage.leave(3)
    assert stage.device.roster.fetching == {}
    assert stage.device.roster.closed_bytes == 0


def test_one_at_a_time_the_next_one_comes_in_too() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 4)
    stage.join(3, 6, swapped=6, turn=1)
    assert fills(stage.want(3)) == [(3, 6)]


def test_not_while_what_counts_as_away_is_still_to_be_pushed_out() -> None:
    stage = begin()
    stage.device.state.ways.present = Way.DISPLACE
    assert fills(stage.leave(2)) == []


def test_who_could_bring_in_nothing_is_told_again_only_when_there_is_more_room() -> None:
    stage = begin()
    assert fills(stage.leave(2)) == [(3, 7)]
    assert fills(stage.moved(3, Memory(12, 0, 11), in_bytes=0, seconds=0.0)) == []
    assert fills(stage.memory(1, 8)) == []
    assert fills(stage.memory(1, 6)) == [(3, 9)]


def test_several_are_stopped_in_an_order_that_a_snapshot_keeps() -> None:
    stage = begin()
    stage.join(4, 2, swapped=2, turn=1)
    roster = stage.device.roster
    for name in (4, 3):
        roster.set_ahead(roster.clients[name], 1)
    assert fills(fill_ahead(stage.device.state, roster)) == [(3, 0), (4, 0)]
