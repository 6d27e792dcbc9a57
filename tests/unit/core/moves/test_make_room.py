from nvshare.core.effects import (
    Effect,
    Evict,
    Grant,
    Handover,
    Revoke,
    Trim,
)
from nvshare.core.events import OverLimitChanged, TimerKind
from nvshare.core.memory import Memory
from nvshare.core.settings import Mode

from ..stage import Stage


def evictions(effects: list[Effect]) -> dict[int, int]:
    orders = (effect for effect in effects if isinstance(effect, Evict | Revoke))
    return {order.client: order.evict_bytes for order in orders if order.evict_bytes}


def test_a_change_of_turn_moves_need_minus_free() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.join(2, 12, swapped=12)
    stage.want(2)
    assert evictions(stage.fire(TimerKind.TURN)) == {1: 8}
    stage.release(1, wants=True, memory=Memory(12, 0, 8))
    stage.moved(2, Memory(12), in_bytes=12, seconds=1)
    assert evictions(stage.fire(TimerKind.TURN)) == {2: 8}


def test_who_runs_moves_out_even_what_was_never_reported_to_be_in() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    stage.release(1, wants=True, memory=Memory(12, 0, 12))
    assert evictions(stage.fire(TimerKind.TURN)) == {2: 8}


def test_a_split_makes_room_for_what_has_grown() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    assert evictions(stage.memory(1, 11)) == {2: 3}


def test_memory_behind_closed_gates_goes_when_others_need_it() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    stage.busy(3, 8)
    # A client that gave way because it was idle kept its memory. Now 3 comes, and needs it.
    assert evictions(stage.release(2)) == {2: 8}
    assert evictions(stage.moved(2, Memory(8, 0, 8), out_bytes=8, seconds=1)) == {}


def test_an_eviction_is_not_ordered_twice() -> None:
    stage = Stage()
    stage.join(1, 8)
    assert evictions(stage.join(2, 12)) == {2: 4}
    assert evictions(stage.memory(1, 9)) == {2: 1}


def test_the_idle_give_first_and_then_who_will_run_last() -> None:
    stage = Stage(mode=Mode.SERIAL)
    for client in (1, 2, 3, 4):
        stage.join(client, 4)
    stage.want(2)
    stage.want(3)
    assert evictions(stage.memory(1, 9)) == {4: 4, 3: 1}


def test_without_scheduling_no_memory_is_moved() -> None:
    stage = Stage(mode=Mode.OFF)
    assert evictions([*stage.join(1, 16), *stage.join(2, 16), *stage.memory(1, 40)]) == {}


# Programs that are larger than the device.


def test_who_is_larger_than_the_device_is_told_how_much_to_bring_in() -> None:
    stage = Stage()
    assert stage.join(1, 20) == [Grant(1, 1, fill_bytes=16)]
    effects = stage.busy(2, 18)
    assert Handover(1, 1, 2, 2, fill_bytes=16, missing=16) in effects
    assert Grant(2, 2, fill_bytes=16, missing=20) in stage.release(1)


def test_who_is_larger_than_what_pinned_memory_leaves_is_told_so() -> None:
    stage = Stage()
    stage.join_native(1, 6)
    assert stage.join(2, 10) == [Grant(2, 2)]
    stage.leave(2)
    assert stage.join(3, 12) == [Grant(3, 3, fill_bytes=10)]


def test_who_is_larger_than_the_device_moves_out_what_the_next_one_needs_and_no_more() -> None:
    stage = Stage()
    stage.join(1, 20)
    stage.busy(2, 3)
    assert evictions(stage.fire(TimerKind.TURN)) == {1: 3}
    stage.release(1, wants=True, memory=Memory(20, 0, 7))
    # It has left 13 of its 20 bytes on the device, and there is room for 3 more.
    assert evictions(stage.fire(TimerKind.TURN)) == {2: 3}


def exceed(stage: Stage, client: int, excess: int) -> list[Effect]:
    return stage.core.handle(OverLimitChanged(now=stage.now, client=client, over_limit=excess))


def test_excess_leaves_when_its_client_does_not_run() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 4)
    stage.join(2, 4, swapped=4)
    assert evictions(exceed(stage, 1, 3)) == {}
    stage.want(2)
    stage.fire(TimerKind.TURN)
    assert evictions(stage.release(1, wants=True)) == {1: 3}
    # It is asked once, and again only for an increase.
    assert evictions(exceed(stage, 1, 4)) == {1: 1}
    assert evictions(stage.moved(1, Memory(4, 0, 4), out_bytes=4, seconds=1)) == {}
    assert evictions(exceed(stage, 1, 2)) == {}


def trims(effects: list[Effect]) -> dict[int, int]:
    return {effect.client: effect.trim_bytes for effect in effects if isinstance(effect, Trim)}


def test_excess_leaves_while_its_client_runs_and_is_not_asked_for_twice_in_a_turn() -> None:
    stage = Stage()
    stage.join(1, 4)
    assert trims(exceed(stage, 1, 2)) == {1: 2}
    assert trims(stage.moved(1, Memory(4, 0, 2), out_bytes=2, seconds=1)) == {}
    # It is in use, and has come back.
    assert trims(stage.memory(1, 4)) == {}
    assert trims(exceed(stage, 1, 3)) == {1: 1}
    assert trims(exceed(stage, 1, 1)) == {}
    assert trims(exceed(stage, 1, 2)) == {1: 1}


def test_excess_stays_out_when_a_turn_begins_and_still_counts_as_in() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 6)
    stage.join(2, 6, swapped=4)
    assert evictions(exceed(stage, 2, 3)) == {}
    stage.want(2)
    stage.fire(TimerKind.TURN)
    effects = stage.release(1)
    (grant,) = (effect for effect in effects if isinstance(effect, Grant))
    assert (grant.client, grant.fill_bytes) == (2, 1)
    assert trims(effects) == {}
    assert stage.device.roster.running_bytes == 6


def test_excess_that_had_no_time_to_leave_before_a_turn_leaves_in_it() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 6)
    stage.join(2, 6, swapped=1)
    assert evictions(exceed(stage, 2, 3)) == {2: 2}
    stage.want(2)
    stage.fire(TimerKind.TURN)
    assert trims(stage.release(1)) == {2: 2}


def test_excess_is_asked_for_in_the_order_that_a_snapshot_keeps() -> None:
    stage = Stage(mode=Mode.SERIAL)
    for client in (1, 2, 3):
        stage.join(client, 4, swapped=1)
    for client in (3, 2):
        exceed(stage, client, 2)
    for client in (2, 3):
        stage.want(client)
    assert list(trims(stage.change(mode=Mode.AUTO))) == [2, 3]


def test_excess_that_cannot_leave_is_not_asked_for_again() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 4)
    stage.join(2, 4)
    (closed,) = stage.device.roster.closed
    assert evictions(exceed(stage, closed, 3)) == {closed: 3}
    assert evictions(stage.moved(closed, Memory(4))) == {}
    stage.leave(closed)


def test_memory_that_has_come_in_does_not_end_an_excess() -> None:
    stage = Stage()
    stage.join(1, 4)
    exceed(stage, 1, 2)
    stage.moved(1, Memory(4), in_bytes=1, seconds=1)
    assert stage.device.roster.clients[1].excess.over_limit == 2


def test_who_is_gone_has_no_excess() -> None:
    stage = Stage()
    stage.join(1, 4)
    exceed(stage, 1, 3)
    stage.leave(1)
    assert stage.device.roster.over == {}
