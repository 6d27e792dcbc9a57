import pytest

from nvshare.core.effects import Effect, Handover, Revoke
from nvshare.core.events import ClientJoined, TimerKind
from nvshare.core.memory import Memory
from nvshare.core.record.ways import MEASURABLE_BYTES, TRIALS, Ways
from nvshare.core.settings import Way

from ..stage import GPU, Stage

GIB = 1 << 30


def revokes(effects: list[Effect]) -> list[Revoke]:
    return [effect for effect in effects if isinstance(effect, Revoke)]


def learned(moving_out: float, displacing: float) -> Ways:
    """The knowledge of a device that has tried both ways, in seconds per GiB."""
    ways = Ways()
    for _ in range(TRIALS):
        for way, seconds in ((Way.MOVE_OUT, moving_out), (Way.DISPLACE, displacing)):
            ways.present = way
            ways.measure(GIB, seconds)
    return ways


def test_both_are_tried_in_turn() -> None:
    ways, tried = Ways(), []
    for _ in range(2 * TRIALS):
        ways.present = ways.preferred
        tried.append(ways.present)
        ways.measure(GIB, 1.0)
    assert tried == [Way.MOVE_OUT, Way.DISPLACE] * TRIALS


def test_the_faster_one_is_used() -> None:
    assert learned(1.0, 0.8).preferred is Way.DISPLACE
    assert learned(0.8, 1.0).preferred is Way.MOVE_OUT


def test_a_small_difference_is_none() -> None:
    assert learned(1.0, 0.97).preferred is Way.MOVE_OUT


@pytest.mark.parametrize(("size", "seconds"), [(MEASURABLE_BYTES - 1, 1.0), (GIB, 0.0)])
def test_what_cannot_be_measured_is_not(size: int, seconds: float) -> None:
    ways = Ways(present=Way.MOVE_OUT)
    ways.measure(size, seconds)
    assert ways == Ways()


def test_a_fill_for_which_no_room_had_to_be_made_is_not_measured() -> None:
    ways = Ways()
    ways.measure(GIB, 1.0)
    assert ways == Ways()


def two() -> Stage:
    """Have a device on which displacing is faster."""
    stage = Stage()
    stage.device.state.ways = learned(1.0, 0.5)
    stage.join(1, 12)
    return stage


def test_a_client_is_displaced_by_the_only_next_one() -> None:
    stage = two()
    asked = stage.busy(2, 12)
    assert [(order.evict_bytes, order.displace) for order in revokes(asked)] == [(8, True)]
    # No room is made that the next client would have to wait for.
    assert Handover(1, 1, 2, 2) in asked
    told = stage.fire(TimerKind.TURN)
    assert [(order.evict_bytes, order.displace) for order in revokes(told)] == [(8, True)]


def test_nobody_is_displaced_while_a_third_has_memory_there() -> None:
    stage = two()
    stage.join(3, 4)
    stage.busy(2, 12)
    stage.release(3)
    told = stage.fire(TimerKind.TURN)
    assert [(order.client, order.displace) for order in revokes(told)] == [(1, False)]


def test_nobody_is_displaced_for_memory_that_nobody_has_used_yet() -> None:
    stage = two()
    memory = Memory(12, 0, 12, untouched=6)
    event = ClientJoined(now=stage.now, client=2, device=GPU, memory=memory, turn=1)
    stage.core.handle(event)
    asked = stage.want(2)
    told = stage.fire(TimerKind.TURN)
    assert [order.displace for order in revokes([*asked, *told])] == [False, False]


def test_nobody_is_displaced_for_one_who_has_grown() -> None:
    stage = two()
    stage.join(2, 4)
    assert [order.displace for order in revokes(stage.memory(1, 14))] == [False]
