import pytest

from nvshare.core.effects import Answer, Grant, SetLimits, Share
from nvshare.core.events import LimitsChanged, Reason, Released, TimerKind
from nvshare.core.journal.codec import to_json
from nvshare.core.lease import IllegalTransition, State
from nvshare.core.memory import Memory
from nvshare.core.settings import Limits, Mode

from ..stage import Stage, granted, told


def contended() -> Stage:
    """Have 1 run with 12 bytes, and 2 wait with 12."""
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    return stage


# Joining.


def test_limits_are_passed_on_at_the_beginning_and_when_they_change() -> None:
    stage = Stage()
    limits = Limits(memory_bytes=8, compute_percent=40)
    assert stage.join(1, limits=limits) == [SetLimits(1, limits, Share(40.0, 0.1)), Grant(1, 1)]
    changed = Limits(compute_percent=50)
    event = LimitsChanged(now=stage.now, client=1, limits=changed)
    assert stage.core.handle(event) == [SetLimits(1, changed, Share(50.0, 0.1))]
    assert stage.device.roster.clients[1].limits == changed


def test_a_client_that_runs_already_goes_on_with_its_turn() -> None:
    stage = Stage()
    assert stage.join(1, 12, running=True, turn=41) == []
    assert stage.state(1) is State.RUNNING
    assert stage.join(2, 4) == [Grant(2, 42)]


def test_a_client_that_ran_unmanaged_holds_turn_0() -> None:
    stage = Stage()
    stage.join(1, 12, running=True)
    stage.busy(2, 12)
    assert granted(stage.release(1)) == [2]


def test_clients_that_run_already_and_do_not_fit_are_split() -> None:
    stage = Stage()
    stage.join(1, 12, running=True)
    assert told(stage.join(2, 12, running=True)) == [2]


def test_nobody_joins_twice() -> None:
    stage = Stage()
    stage.join(1)
    with pytest.raises(IllegalTransition, match="client 1 is running, which does not allow: join"):
        stage.join(1)


# Wanting.


def test_wanting_twice_is_wanting_once() -> None:
    stage = contended()
    assert stage.want(2) == []


def test_wanting_while_the_grant_is_on_its_way_is_forgotten() -> None:
    stage = contended()
    stage.release(1)
    assert stage.want(2, turn=0) == []
    stage.release(2)
    assert stage.state(2) is State.IDLE


def test_wanting_at_a_gate_that_is_closing_is_remembered() -> None:
    stage = contended()
    stage.fire(TimerKind.TURN)
    stage.want(1, turn=1)
    stage.release(1, wants=False)
    assert stage.state(1) is State.WAITING


# Releasing.


def test_a_turn_that_is_not_held_cannot_be_released() -> None:
    stage = contended()
    for client, turn in ((1, 7), (2, 1), (2, 0)):
        with pytest.raises(IllegalTransition, match=f"release of turn {turn}"):
            stage.release(client, turn=turn)


def test_what_is_illegal_changes_nothing() -> None:
    stage = contended()
    before = to_json(stage.core.snapshot())
    with pytest.raises(IllegalTransition):
        stage.release(1, turn=7, memory=Memory(1), moved_bytes=1 << 30, seconds=1)
    with pytest.raises(IllegalTransition):
        stage.join(2, 5, turn=99)
    with pytest.raises(ValueError, match="no policy"):
        stage.change(policy="best", usable=1)
    assert to_json(stage.core.snapshot()) == before


def test_the_end_of_a_turn_may_be_heard_of_before_its_hand_over() -> None:
    stage = contended()
    # 1 has woken 2, and 2 is done already, but the message of 1 comes later.
    stage.release(2, turn=2)
    assert stage.states() == {1: "running", 2: "idle"}
    stage.release(1, handed_to=2, handed_turn=2)
    assert stage.states() == {1: "idle", 2: "idle"}


def test_a_hand_over_to_somebody_who_is_gone_is_nothing() -> None:
    stage = contended()
    stage.busy(3, 12)
    stage.leave(2)
    assert granted(stage.release(1, handed_to=2, handed_turn=2)) == [3]


def test_a_hand_over_that_nobody_ordered_is_nothing() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.join(2, 12)
    assert granted(stage.release(1, handed_to=2, handed_turn=9)) == []


# Asking.


def test_who_asks_is_answered_and_who_tells_is_not() -> None:
    stage = Stage()
    stage.join(1, 4)
    assert stage.memory(1, 8) == []
    assert stage.memory(1, 12, ticket=7) == [Answer(1, 7)]
    assert stage.device.roster.clients[1].memory == Memory(12)


def test_the_answer_comes_last_and_says_how_much_others_have_to_move_out() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    effects = stage.memory(1, 11, ticket=7)
    assert told(effects) == [2]
    assert effects[-1] == Answer(1, 7, missing=3)
    # It has closed its gate, and not moved anything yet.
    assert stage.memory(1, 12, ticket=8)[-1] == Answer(1, 8, missing=4)
    stage.release(2, memory=Memory(8, 0, 4))
    assert stage.memory(1, 12, ticket=9) == [Answer(1, 9)]


@pytest.mark.parametrize("mode", [Mode.CONCURRENT, Mode.OFF])
def test_where_nobody_schedules_nobody_is_waited_for(mode: Mode) -> None:
    stage = Stage(mode=mode)
    stage.join(1, 8)
    stage.join(2, 12)
    assert stage.memory(1, 9, ticket=7) == [Answer(1, 7)]


def test_memory_behind_closed_gates_is_missing_until_it_has_gone() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 12)
    assert stage.memory(1, 9, ticket=7)[-1] == Answer(1, 7, missing=5)
    stage.moved(2, Memory(12, 0, 5), out_bytes=5, seconds=1)
    assert stage.memory(1, 9, ticket=8)[-1] == Answer(1, 8)


def test_who_has_to_go_itself_misses_nothing() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    effects = stage.memory(2, 11, ticket=7)
    assert told(effects) == [2]
    assert effects[-1] == Answer(2, 7)


# Moving.


def test_measured_moves_feed_the_bandwidth() -> None:
    stage = Stage(initial_bandwidth=1e9)
    stage.join(1, 12)
    stage.now += 1
    stage.moved(1, Memory(12), out_bytes=1 << 31, in_bytes=1 << 30, seconds=1.0)
    after_one = stage.device.state.pace.bandwidth
    assert after_one == pytest.approx(1e9 + (2**31 - 1e9) / 4)
    stage.now += 60
    stage.release(1, moved_bytes=1 << 31, seconds=1.0)
    assert after_one < stage.device.state.pace.bandwidth < 2**31


def test_what_the_predecessor_moves_in_a_turn_counts_as_moving() -> None:
    stage = Stage(mode=Mode.SERIAL, turn_seconds=4)
    stage.busy(1, 12)
    stage.busy(2, 12)
    for client, other in ((1, 2), (2, 1), (1, 2)):
        stage.fire(TimerKind.TURN)
        stage.release(client, wants=True)
        # It has nothing to bring in, but the room comes only when the other has left.
        stage.now += 3
        stage.moved(client, Memory(12, 0, 12), out_bytes=12, seconds=3.0)
        assert stage.state(other) is State.RUNNING
    assert stage.device.state.pace.moving == 9


# Settings.


def test_more_usable_memory_lets_others_in() -> None:
    assert granted(contended().change(usable=24)) == [2]


def test_another_policy_puts_those_who_wait_in_another_order() -> None:
    # Rests of seconds are no rests here.
    stage = Stage(mode=Mode.SERIAL, turn_min=3000.0, turn_max=3000.0)
    for client in (1, 2, 3):
        stage.now += 1
        stage.join(client)
    stage.now += 1
    stage.want(3)
    stage.now += 1
    stage.want(2)
    stage.change(policy="fifo")
    assert [client.id for client in stage.device.roster.waiting] == [3, 2]
    stage.change(policy="fair")
    assert [client.id for client in stage.device.roster.waiting] == [2, 3]
    assert stage.device.state.head == 2


def test_another_length_counts_for_the_turn_that_runs() -> None:
    stage = contended()
    stage.change(turn_seconds=50)
    assert stage.device.state.alarms[TimerKind.TURN] == stage.now + 50


# The end.


def test_who_is_gone_holds_nothing() -> None:
    stage = contended()
    stage.leave(1)
    stage.leave(2)
    assert stage.device.roster.pinned == stage.device.roster.swappable == 0
    assert stage.device.state.alarms == {}


def test_who_is_gone_cannot_do_anything() -> None:
    stage = Stage()
    stage.join(1)
    stage.leave(1)
    event = Released(now=stage.now, client=1, turn=1, reason=Reason.IDLE, memory=Memory())
    with pytest.raises(IllegalTransition, match="client 1 is gone"):
        stage.core.handle(event)
    with pytest.raises(IllegalTransition, match="client 1 is gone"):
        stage.device.handle(event)
