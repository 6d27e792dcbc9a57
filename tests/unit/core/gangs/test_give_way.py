"""A gang gives up its turns in two phases: all its clients hold, and then all are revoked."""

import pytest

from nvshare.core.effects import Answer, ReportKind, Revoke, Urgency
from nvshare.core.events import MemoryChanged, TimerKind
from nvshare.core.gangs.step import LONGEST_PATIENCE, STEP_PATIENCE
from nvshare.core.memory import Memory
from nvshare.core.record.gang import HoldStage

from ..stage import granted, told
from .stage import Stage, holds, keeps, steps


@pytest.fixture
def stage() -> Stage:
    """Gang 10, 11 runs, and 20 waits for the device of 10; its turn is just over."""
    stage = Stage()
    stage.gang(10, 11)
    stage.join(20, 12)
    stage.want(20)
    assert sorted(holds(stage.fire(0, TimerKind.TURN))) == [10, 11]
    return stage


def test_nobody_goes_before_all_hold(stage: Stage) -> None:
    assert told(stage.held(10)) == []
    assert sorted(told(stage.held(11))) == [10, 11]
    assert granted(stage.release(11, wants=True)) == []
    assert granted(stage.release(10, wants=True)) == [20]
    assert stage.states(10, 11) == ["waiting", "waiting"]


def test_only_who_is_in_the_way_moves_memory_out(stage: Stage) -> None:
    stage.held(10)
    orders = [effect for effect in stage.held(11) if isinstance(effect, Revoke)]
    assert {order.client: order.evict_bytes for order in orders} == {10: 8, 11: 0}


def test_who_holds_with_a_thread_at_its_gate_steps_while_others_have_not_drained(
    stage: Stage,
) -> None:
    assert steps(stage.held(10, waits=True)) == []
    assert steps(stage.fire(0, TimerKind.STEP)) == [10]
    assert stage.client(10).hold.stage is HoldStage.STEPS
    # It steps again only after it has drained again, and its patience is over.
    assert stage.alarm(0, TimerKind.STEP) is None
    began = stage.now
    assert steps(stage.held(10, waits=True)) == []
    assert steps(stage.fire(0, TimerKind.STEP)) == [10]
    assert stage.now == pytest.approx(began + STEP_PATIENCE)
    stage.held(10, waits=True)
    assert sorted(told(stage.held(11, waits=True))) == [10, 11]


def test_who_has_nothing_to_do_does_not_step(stage: Stage) -> None:
    stage.held(10)
    assert stage.alarm(0, TimerKind.STEP) is None
    # Until a thread comes.
    stage.come_back(10)
    assert stage.alarm(0, TimerKind.STEP) is not None
    assert steps(stage.fire(0, TimerKind.STEP)) == [10]


def test_who_stepped_too_far_makes_the_others_more_patient(stage: Stage) -> None:
    stage.held(10, waits=True)
    stage.fire(0, TimerKind.STEP)
    for _ in range(6):
        # 10 is in the next collective by now, and 11 is held before it; and the other way round.
        stage.held(11, waits=True)
        assert steps(stage.fire(1, TimerKind.STEP)) == [11]
        stage.held(10, waits=True)
        assert steps(stage.fire(0, TimerKind.STEP)) == [10]
    assert stage.client(10).hold.step_patience == LONGEST_PATIENCE
    stage.held(10)
    stage.held(11)
    assert stage.client(10).hold.step_patience == 0.0


def test_who_is_many_calls_behind_does_not_wait_longer_for_each(stage: Stage) -> None:
    stage.held(10, waits=True)
    stage.fire(0, TimerKind.STEP)
    stage.held(11, waits=True)
    for _ in range(9):
        # 10 is in a collective, and 11 is on its way there.
        assert steps(stage.fire(1, TimerKind.STEP)) == [11]
        stage.held(11, waits=True)
    assert stage.client(11).hold.step_patience == STEP_PATIENCE


def test_when_nobody_waits_any_more_the_gates_open_again(stage: Stage) -> None:
    stage.held(10)
    assert sorted(keeps(stage.leave(20))) == [10, 11]
    assert stage.states(10, 11) == ["running", "running"]
    assert told(stage.held(11)) == []


def test_who_cannot_drain_keeps_the_whole_gang_where_it_is_for_a_while(stage: Stage) -> None:
    stage.held(11)
    assert keeps(stage.cannot_drain(10)) == [11]
    assert stage.states(10, 11) == ["running", "running"]
    assert stage.client(11).drain.undrained
    effects = stage.fire(0, TimerKind.UNDRAINED)
    assert sorted(holds(effects)) == [10, 11]


def test_who_dies_is_not_waited_for(stage: Stage) -> None:
    stage.held(10)
    # The rest of the gang is on one device, and so no gang.
    assert told(stage.leave(11)) == [10]
    assert granted(stage.release(10, wants=True)) == [20]


def test_others_go_on_without_one_that_is_silent() -> None:
    stage = Stage(devices=3)
    stage.gang(10, 11, 12)
    stage.join(20, 12)
    stage.want(20)
    stage.fire(0, TimerKind.TURN)
    stage.held(10)
    stage.held(12)
    effects = stage.fire(1, TimerKind.PATIENCE)
    assert [effect.kind for effect in effects if hasattr(effect, "kind")] == [ReportKind.OVERDUE]
    # The silent one is told as well: it may read that some day.
    assert sorted(told(effects)) == [10, 11, 12]
    stage.release(12, wants=True)
    assert granted(stage.release(10, wants=True)) == [20]
    # It is back, and its gang waits: so it does.
    stage.release(11)
    assert stage.states(10, 11, 12) == ["waiting"] * 3


def test_who_holds_is_not_silent(stage: Stage) -> None:
    stage.held(10, waits=True)
    stage.fire(0, TimerKind.STEP)
    assert stage.alarm(0, TimerKind.PATIENCE) is not None
    stage.held(10)
    assert stage.alarm(0, TimerKind.PATIENCE) is None
    assert stage.alarm(1, TimerKind.PATIENCE) is not None


def test_a_release_that_crosses_the_order_to_hold_counts_as_held(stage: Stage) -> None:
    effects = stage.release(11)
    assert told(effects) == []
    effects = stage.held(10)
    assert [(e.client, e.urgency) for e in effects if isinstance(e, Revoke)] == [(10, Urgency.NOW)]
    assert stage.states(11) == ["idle"]


def test_what_a_client_says_too_late_does_nothing(stage: Stage) -> None:
    stage.held(10)
    stage.held(11)
    assert stage.held(11, waits=True) == []
    stage.release(11, wants=True)
    assert stage.held(11) == []


def test_one_that_grows_takes_its_gang_with_it() -> None:
    stage = Stage()
    stage.join(20, 8)
    stage.want(20)
    stage.gang(10, 11, size=8)
    assert stage.states(10, 11, 20) == ["running"] * 3
    assert sorted(holds(stage.memory(10, 10))) == [10, 11]
    stage.held(10)
    assert sorted(told(stage.held(11))) == [10, 11]
    stage.release(11, wants=True)
    stage.release(10, wants=True, memory=Memory(10, 0, 2))
    assert stage.states(10, 11, 20) == ["waiting", "waiting", "running"]


def test_a_gang_is_parked_as_a_whole() -> None:
    stage = Stage()
    stage.gang(10, 11)
    assert sorted(holds(stage.park(10))) == [10, 11]
    stage.held(10)
    assert sorted(told(stage.held(11))) == [10, 11]
    stage.release(10, wants=True)
    stage.release(11, wants=True)
    assert stage.states(10, 11) == ["waiting", "waiting"]
    # Others are not held up by it.
    stage.join(21, 12)
    assert granted(stage.want(21)) == [21]
    stage.leave(21)
    assert sorted(granted(stage.park(10, False))) == [10, 11]


def test_a_gang_that_is_interrupted_goes_on_before_others_who_wait() -> None:
    stage = Stage()
    stage.gang(10, 11)
    stage.join(20, 12)
    stage.want(20)
    # The gang has its second turn, and 20 rests meanwhile.
    stage.fire(0, TimerKind.TURN)
    stage.hand_over(10, 11)
    stage.release(20)
    assert stage.states(10, 11, 20) == ["running", "running", "idle"]
    stage.join(31, 12, turn=1)
    stage.want(31)
    stage.now += 20
    assert sorted(holds(stage.want(20))) == [10, 11]
    stage.hand_over(10, 11)
    assert [stage.client(one).precedence.interrupted for one in (10, 11)] == [20, 20]
    assert stage.states(20, 31) == ["running", "running"]
    # Others have used the other device meanwhile. The gang is first in both queues.
    stage.join(41, 12, turn=1)
    stage.want(41)
    stage.now += 1
    stage.release(20)
    assert told(stage.fire(1, TimerKind.TURN)) == [31]
    assert sorted(granted(stage.release(31, wants=True))) == [10, 11]


def test_an_answer_to_one_that_is_told_to_hold_says_nothing_of_room() -> None:
    stage = Stage()
    stage.gang(10, 11, size=4)
    stage.gang(20, 21, size=14)
    # It is behind its gate, and has to move out for the request of client 10.
    stage.join(30)
    stage.memory(30, 10)
    stage.now = stage.alarm(0, TimerKind.TURN) or stage.now
    ask = MemoryChanged(now=stage.now, client=10, memory=Memory(8), ticket=1)
    effects = stage.core.handle(ask)
    assert holds(effects) == [10, 11]
    assert effects[-1] == Answer(10, 1, missing=0)


def test_one_that_was_told_to_go_before_it_was_in_the_gang_takes_all_with_it() -> None:
    stage = Stage()
    stage.change(1, gangs=False)
    stage.gang(10, 11)
    assert stage.states(10, 11) == ["running", "running"]
    stage.park(11)
    assert stage.states(10, 11) == ["running", "yielding"]
    assert holds(stage.change(1)) == [10]
    assert told(stage.held(10, waits=True)) == [10]
