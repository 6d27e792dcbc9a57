import pytest

from nvshare.core.client import Client
from nvshare.core.events import TimerKind
from nvshare.core.memory import Memory
from nvshare.core.policies import find_policy
from nvshare.core.settings import Limits, Priority

from ..stage import Stage, granted, timers, told

HIGH = Limits(priority=Priority.HIGH)


def test_it_goes_by_arrival() -> None:
    batch = find_policy("batch")
    assert batch.rank(Client(1, served_at=5, since=9)) < batch.rank(Client(2, served_at=6, since=7))


def test_who_has_a_turn_keeps_it() -> None:
    stage = Stage(policy="batch", move_budget=0.0)
    stage.join(1, 12)
    effects = stage.busy(2, 12)
    assert timers(effects) == {TimerKind.TURN: stage.now + stage.settings.batch_turn}


def test_but_not_for_ever() -> None:
    stage = Stage(policy="batch", move_budget=0.0, batch_turn=100.0)
    stage.join(1, 12)
    stage.busy(2, 12)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert stage.now == 1100.0


def begin() -> Stage:
    """Have 1 and 2, which compute all the time, and 3 of high priority, which rests; 1 runs."""
    stage = Stage(policy="batch", initial_bandwidth=12.0)
    stage.join(1, 12)
    stage.busy(2, 12)
    stage.join(3, 12, limits=HIGH)
    # Every newcomer has a short turn soon: it may compute in bursts.
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert change(stage, 1, wants=True) == [2]
    assert told(stage.fire(TimerKind.TURN)) == [2]
    assert change(stage, 2, wants=True) == [1]
    return stage


def change(stage: Stage, going: int, *, wants: bool) -> list[int]:
    """Have one give way with all its memory; return who comes, with all of its own."""
    effects = stage.release(going, wants=wants, memory=Memory(12, 0, 12), moved_bytes=12)
    for client in granted(effects):
        stage.moved(client, Memory(12), in_bytes=12, seconds=1.0)
    return granted(effects)


def let_high_priority_come(stage: Stage) -> None:
    """Have 3 end the turn of 1, which has had its memory for long enough."""
    stage.now += 40
    assert told(stage.want(3)) == [1]
    assert change(stage, 1, wants=True) == [3]
    stage.now += 1


def test_who_gives_way_to_a_higher_priority_goes_on_afterwards() -> None:
    stage = begin()
    earlier = stage.now - stage.device.state.turn_started
    for _ in range(3):
        let_high_priority_come(stage)
        # The next program would be 2 if the turn of 1 were over.
        assert change(stage, 3, wants=False) == [1]
    # It has its turn in parts, and no longer in all.
    computed = 3 * 40
    assert stage.device.state.alarms[TimerKind.TURN] == pytest.approx(
        stage.now - computed - earlier + stage.settings.batch_turn
    )


def test_memory_that_has_just_come_back_is_worth_a_while() -> None:
    stage = begin()
    let_high_priority_come(stage)
    assert change(stage, 3, wants=False) == [1]
    # Its turn has lasted for more than turn_min, but most of that was before the move.
    stage.device.state.budget.saved = 0.0
    stage.now += 5
    assert told(stage.want(3)) == []


def test_who_waits_for_equals_does_not_starve() -> None:
    stage = begin()
    settings = stage.settings
    longest = settings.batch_turn + settings.turn_min * (1 / settings.priority_floor - 1)
    since = stage.device.roster.clients[2].since
    assert stage.device.state.alarms[TimerKind.FLOOR] == since + longest


def begin_beside_a_notebook() -> Stage:
    """Have 1 compute, 2 wait for its end, and 3 rest after a first turn of 20 s."""
    stage = Stage(policy="batch", initial_bandwidth=12.0)
    stage.join(1, 12)
    stage.busy(2, 12)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert change(stage, 1, wants=True) == [2]
    assert told(stage.fire(TimerKind.TURN)) == [2]
    assert change(stage, 2, wants=True) == [1]
    assert told(stage.busy(3, 12)) == [1]
    assert change(stage, 1, wants=True) == [3]
    stage.now += 20
    assert change(stage, 3, wants=False) == [1]
    return stage


def test_a_newcomer_has_a_whole_turn_to_show_that_it_rests() -> None:
    stage = begin_beside_a_notebook()
    assert stage.device.roster.clients[3].credit == pytest.approx(-20.0)


def test_who_rests_leaves_half_to_the_one_that_runs_however_many_wait() -> None:
    stage = begin_beside_a_notebook()
    stage.now += 50
    # Moving its memory in, and that of 1 back, takes 2 s; it has 5 s of credit.
    assert told(stage.want(3)) == [1]
    assert stage.device.roster.clients[3].credit == pytest.approx(5.0)


def test_who_has_used_up_its_credit_does_not_wait_for_an_end() -> None:
    stage = begin_beside_a_notebook()
    stage.now += 10
    assert told(stage.want(3)) == []
    wanted = stage.now
    # It lacks 15 s, and 2 s for moving memory. It would earn one in two seconds.
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert stage.now == pytest.approx(wanted + 2 * 17.0)


def test_a_burst_is_not_cut_short_when_credit_ends() -> None:
    stage = begin_beside_a_notebook()
    stage.now += 46
    assert told(stage.want(3)) == [1]
    assert change(stage, 1, wants=True) == [3]
    began = stage.now
    assert stage.device.roster.clients[3].credit == pytest.approx(3.0)
    assert told(stage.fire(TimerKind.TURN)) == [3]
    assert stage.now == began + stage.settings.turn_min


def test_a_burst_that_a_higher_priority_interrupts_goes_on_before_the_others() -> None:
    stage = begin_beside_a_notebook()
    stage.now += 50
    assert told(stage.want(3)) == [1]
    assert change(stage, 1, wants=True) == [3]
    began = stage.now
    stage.now += 10
    stage.join(4, 12, limits=HIGH)
    assert told(stage.want(4)) == [3]
    assert change(stage, 3, wants=True) == [4]
    stage.now += 1
    # 1 was interrupted before it, and has waited for longer.
    assert change(stage, 4, wants=False) == [3]
    assert told(stage.fire(TimerKind.TURN)) == [3]
    assert stage.now == began + 1 + stage.settings.turn_min


def test_a_short_rest_gives_no_claim() -> None:
    stage = begin_beside_a_notebook()
    stage.now += 0.5
    stage.want(3)
    assert stage.device.state.alarms[TimerKind.TURN] > stage.now + 1000
