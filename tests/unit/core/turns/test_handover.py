from nvshare.core.effects import (
    CancelHandover,
    Effect,
    Grant,
    Handover,
    Keep,
)
from nvshare.core.events import TimerKind

from ..stage import Stage, granted


def handovers(effects: list[Effect]) -> list[Effect]:
    return [effect for effect in effects if isinstance(effect, Handover | CancelHandover)]


def waiting_for_one() -> Stage:
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    return stage


def test_the_only_holder_is_told_whom_to_wake() -> None:
    stage = Stage()
    stage.join(1, 12)
    assert handovers(stage.busy(2, 12)) == [Handover(1, 1, 2, 2, missing=8)]


def test_the_core_grants_the_same_turn_when_it_hears_of_it() -> None:
    stage = waiting_for_one()
    effects = stage.release(1, handed_to=2, handed_turn=2)
    assert Grant(2, 2, missing=8) in effects


def test_a_wake_that_did_not_happen_is_made_up_for() -> None:
    assert Grant(2, 2, missing=8) in waiting_for_one().release(1)


def test_a_holder_that_dies_on_the_way_is_made_up_for() -> None:
    stage = waiting_for_one()
    stage.fire(TimerKind.TURN)
    assert Grant(2, 2) in stage.leave(1)


def test_the_order_stands_when_the_turn_ends() -> None:
    assert handovers(waiting_for_one().fire(TimerKind.TURN)) == []


def test_an_heir_that_dies_is_replaced() -> None:
    stage = waiting_for_one()
    stage.busy(3, 12)
    assert handovers(stage.leave(2)) == [Handover(1, 1, 3, 3, missing=8)]


def test_keep_takes_the_hand_over_back() -> None:
    stage = waiting_for_one()
    stage.join(3, 12)
    effects = stage.leave(2)
    assert Keep(1, 1) in effects
    assert handovers(effects) == []


def test_a_hand_over_that_must_not_happen_is_cancelled() -> None:
    stage = Stage()
    stage.join(1, 14)
    stage.busy(2, 14)
    stage.busy(3, 0)
    assert handovers(stage.memory(3, 1)) == [CancelHandover(1, 1)]


def test_a_cancelled_hand_over_that_happened_is_taken_as_it_is() -> None:
    stage = Stage()
    stage.join(1, 14)
    stage.busy(2, 15)
    stage.busy(3, 0)
    stage.memory(3, 2)
    effects = stage.release(1, handed_to=2, handed_turn=2)
    # 2 runs already, but does not fit beside 3, which has grown: the latest has to go.
    assert granted(effects) == [2]
    assert stage.states()[2] == "yielding"


def test_with_several_in_the_way_there_is_no_hand_over() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    assert handovers(stage.busy(3, 16)) == []


def test_a_holder_does_not_wake_the_head_while_somebody_else_gives_way() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    stage.busy(3, 16)
    effects = stage.memory(1, 9)
    assert stage.states() == {1: "running", 2: "yielding", 3: "waiting"}
    assert handovers(effects) == []


def test_the_last_of_several_who_give_way_wakes_the_head() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    stage.busy(3, 16)
    assert handovers(stage.fire(TimerKind.TURN)) == []
    assert handovers(stage.release(1)) == [Handover(2, 2, 3, 3, missing=16)]


def test_who_is_woken_knows_that_what_is_leaving_now_has_no_room_by_then() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    stage.release(1)
    assert handovers(stage.want(1, 1)) == [Handover(2, 2, 1, 3, missing=8)]
