import pytest

from nvshare.core.core import Core
from nvshare.core.effects import CancelHandover, Effect, Report, ReportKind
from nvshare.core.events import CanDrain, CannotDrain, LimitsChanged, ParkChanged, TimerKind
from nvshare.core.lease import IllegalTransition
from nvshare.core.memory import Kind
from nvshare.core.record.device import RegimeName
from nvshare.core.settings import Limits, Priority
from nvshare.core.turns.undrained import FIRST_PAUSE, LONGEST_PAUSE, try_again

from ..stage import GPU, Stage, asked, granted, told


def cannot(stage: Stage, client: int) -> list[Effect]:
    turn = stage.device.roster.clients[client].turn.number
    return stage.core.handle(CannotDrain(now=stage.now, client=client, turn=turn))


def can(stage: Stage, client: int, turn: int | None = None) -> list[Effect]:
    turn = stage.device.roster.clients[client].turn.number if turn is None else turn
    return stage.core.handle(CanDrain(now=stage.now, client=client, turn=turn))


def reports(effects: list[Effect]) -> list[ReportKind]:
    return [effect.kind for effect in effects if isinstance(effect, Report)]


def tangled(size: int = 12, **joins: object) -> Stage:
    """A client of 12 bytes that cannot give way, and one of 12 that waits for it."""
    stage = Stage(turn_seconds=10.0, revoke_patience=1000.0)
    stage.join(1, size, **joins)  # type: ignore[arg-type]
    stage.busy(2, 12)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    return stage


def test_it_runs_on_and_nobody_is_let_in_who_does_not_fit() -> None:
    stage = tangled()
    assert granted(cannot(stage, 1)) == []
    assert stage.states() == {1: "running", 2: "waiting"}
    # A client that fits beside it runs, though another has waited longer.
    assert granted(stage.busy(3, 4)) == [3]


def test_its_hand_over_is_taken_back() -> None:
    stage = tangled()
    turn = stage.device.roster.clients[1].turn.number
    assert CancelHandover(1, turn) in cannot(stage, 1)


def test_a_person_is_told_once() -> None:
    stage = tangled()
    assert reports(cannot(stage, 1)) == [ReportKind.UNDRAINED]
    stage.fire(TimerKind.UNDRAINED)
    assert reports(cannot(stage, 1)) == []


def test_it_is_tried_again_after_longer_and_longer_pauses() -> None:
    stage = tangled()
    pauses = []
    for _ in range(6):
        cannot(stage, 1)
        began = stage.now
        assert told(stage.fire(TimerKind.UNDRAINED)) == [1]
        pauses.append(stage.now - began)
    assert pauses == [FIRST_PAUSE * factor for factor in (1, 2, 4, 8)] + [LONGEST_PAUSE] * 2


def test_it_is_neither_asked_nor_told_in_between() -> None:
    stage = tangled()
    effects = cannot(stage, 1)
    stage.now += 1
    effects += stage.want(2)
    effects += stage.memory(1, 13)
    effects += stage.busy(4, 1)
    assert asked(effects) + told(effects) == []


def test_who_fits_beside_it_takes_turns_though_somebody_before_them_does_not() -> None:
    stage = tangled()
    cannot(stage, 1)
    assert granted(stage.busy(3, 3)) == [3]
    # For the fourth one, the third has to go; the second would have been first.
    assert told(stage.busy(4, 3)) == [3]
    effects = stage.release(3, wants=True)
    assert granted(effects) == [4]
    # The first is not asked, since it cannot give way.
    assert asked(effects) == [4]
    assert stage.states() == {1: "running", 2: "waiting", 3: "waiting", 4: "running"}


def test_when_it_can_give_way_who_waits_has_its_turn() -> None:
    stage = tangled()
    cannot(stage, 1)
    stage.fire(TimerKind.UNDRAINED)
    assert granted(stage.release(1, wants=True)) == [2]
    # It does not count as undrained any more.
    assert stage.device.roster.clients[1].drain.failing_since is None


def test_it_is_tried_at_once_when_its_work_has_ended() -> None:
    stage = tangled()
    cannot(stage, 1)
    stage.now += 0.1
    assert told(can(stage, 1)) == [1]


def test_what_is_said_of_an_earlier_turn_means_nothing() -> None:
    stage = tangled()
    turn = stage.device.roster.clients[1].turn.number
    cannot(stage, 1)
    assert told(can(stage, 1, turn=turn - 1)) == []
    stage.fire(TimerKind.UNDRAINED)
    stage.release(1, wants=True)
    can(stage, 1)
    assert stage.states() == {1: "waiting", 2: "running"}


def test_only_who_was_told_to_give_way_can_say_that_it_cannot() -> None:
    stage = Stage()
    stage.join(1, 4)
    with pytest.raises(IllegalTransition, match="going on with turn"):
        cannot(stage, 1)


def test_one_that_the_driver_can_page_is_not_waited_for_for_ever() -> None:
    stage = tangled()
    stage.change(revoke_patience=5.0)
    cannot(stage, 1)
    stage.fire(TimerKind.UNDRAINED)
    cannot(stage, 1)
    assert stage.states() == {1: "running", 2: "waiting"}
    stage.fire(TimerKind.UNDRAINED)
    assert granted(cannot(stage, 1)) == [2]
    assert stage.states() == {1: "yielding", 2: "running"}
    # It is tried again all the same.
    assert told(stage.fire(TimerKind.UNDRAINED)) == [1]
    stage.release(1, wants=True)
    assert stage.states() == {1: "waiting", 2: "running"}


def test_one_that_nobody_can_page_is() -> None:
    stage = tangled(kind=Kind.EXPLICIT)
    stage.change(revoke_patience=5.0)
    for _ in range(8):
        assert granted(cannot(stage, 1)) == []
        stage.fire(TimerKind.UNDRAINED)


def test_when_those_have_gone_who_went_on_without_it_it_runs_as_ever() -> None:
    stage = tangled()
    stage.change(revoke_patience=0.5)
    cannot(stage, 1)
    stage.fire(TimerKind.UNDRAINED)
    cannot(stage, 1)
    assert stage.states() == {1: "yielding", 2: "running"}
    stage.leave(2)
    assert told(stage.fire(TimerKind.UNDRAINED)) == []
    assert stage.states() == {1: "running"}
    assert TimerKind.UNDRAINED not in stage.device.state.alarms


def test_others_give_way_to_one_that_has_grown_and_cannot() -> None:
    stage = tangled()
    assert granted(stage.busy(3, 4)) == [3]
    cannot(stage, 1)
    # Though it is the latest that runs.
    assert told(stage.memory(1, 14)) == [3]
    assert granted(stage.release(3, wants=True)) == []
    assert granted(stage.leave(1)) != []


def test_who_is_parked_and_cannot_give_way_is_not_told_all_the_time() -> None:
    stage = Stage()
    stage.join(1, 4)
    park = ParkChanged(now=stage.now, client=1, parked=True)
    assert told(stage.core.handle(park)) == [1]
    assert told(cannot(stage, 1)) == []
    assert told(stage.fire(TimerKind.UNDRAINED)) == [1]


def test_short_turns_are_without_it_for_a_while() -> None:
    stage = Stage(slice_seconds=1.0)
    stage.join(1, 4)
    stage.join(2, 4)
    stage.used(1, 0.0)
    stage.used(2, 0.0)
    stage.now += 1.0
    stage.used(1, 1.0)
    assert told(stage.used(2, 1.0)) == [2]
    cannot(stage, 2)
    assert stage.device.state.regime is RegimeName.MEMORY
    stage.now += 1.0
    assert told(stage.used(2, 2.0)) == []
    # Until it is tried again.
    stage.fire(TimerKind.UNDRAINED)
    stage.now += 2.0
    assert told(stage.used(2, 5.0)) == [2]


def test_one_of_another_priority_runs_beside_it() -> None:
    stage = Stage(share_slice_seconds=0.05)
    stage.join(1, 4)
    stage.join(2, 4)
    stage.now += 1
    high = LimitsChanged(now=stage.now, client=2, limits=Limits(priority=Priority.HIGH))
    assert told(stage.core.handle(high)) == [2]
    assert told(stage.release(2, wants=True)) == [1]
    assert granted(cannot(stage, 1)) == [2]
    assert stage.states() == {1: "running", 2: "running"}
    # The end of its work is no reason to hold the other up.
    assert told(can(stage, 1)) == []


def test_who_cannot_give_way_and_dies_holds_nothing() -> None:
    stage = tangled()
    cannot(stage, 1)
    assert granted(stage.leave(1)) == [2]
    assert stage.device.state.alarms == {}


def test_a_snapshot_knows_who_cannot_give_way() -> None:
    stage = tangled()
    cannot(stage, 1)
    again = Core(check=True, snapshot=stage.core.snapshot())
    assert list(again._devices[GPU].roster.undrained) == [1]


def test_several_are_tried_again_in_an_order_that_a_snapshot_keeps() -> None:
    stage = Stage(turn_seconds=10.0)
    stage.join(1, 6)
    stage.join(2, 6)
    stage.busy(3, 14)
    assert told(stage.fire(TimerKind.TURN)) == [1, 2]
    roster = stage.device.roster
    for name in (2, 1):
        roster.go_on_without(roster.clients[name])
        roster.clients[name].drain.retry_at = stage.now
    assert told(try_again(roster, stage.now)) == [1, 2]
