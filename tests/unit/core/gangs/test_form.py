"""Which clients form a gang."""

from nvshare.core.effects import Report, ReportKind
from nvshare.core.events import TimerKind

from ..stage import granted, told
from .stage import Stage, holds


def gangs(stage: Stage, *clients: int) -> list[int | None]:
    return [stage.client(client).gang.number for client in clients]


def test_a_group_on_several_devices_is_a_gang() -> None:
    stage = Stage()
    stage.join(10, 1, "a")
    assert gangs(stage, 10) == [None]
    stage.join(11, 1, "a")
    assert gangs(stage, 10, 11) == [10, 10]


def test_others_are_not() -> None:
    stage = Stage()
    for client, group in [(10, "a"), (20, "a"), (11, "b"), (21, ""), (30, "")]:
        stage.join(client, 1, group)
    assert gangs(stage, 10, 20, 11, 21, 30) == [None] * 5


def test_a_client_that_does_not_understand_hold_is_in_no_gang() -> None:
    stage = Stage()
    stage.join(10, 1, "a")
    stage.join(11, 1, "a", can_hold=False)
    assert gangs(stage, 10, 11) == [None, None]


def test_a_gang_keeps_its_number_whoever_leaves() -> None:
    stage = Stage(devices=3)
    for client in (10, 11, 12):
        stage.join(client, 1, "a")
    stage.leave(10)
    assert gangs(stage, 11, 12) == [10, 10]
    stage.leave(11)
    assert gangs(stage, 12) == [None]


def test_where_gangs_are_switched_off_everybody_is_scheduled_alone() -> None:
    stage = Stage()
    stage.gang(10, 11)
    stage.gang(20, 21)
    stage.change(0, gangs=False)
    assert gangs(stage, 10, 11, 20, 21) == [None] * 4
    assert told(stage.fire(1, TimerKind.TURN)) == [11]
    stage.change(0, gangs=True)
    assert gangs(stage, 10, 11, 20, 21) == [10, 10, 20, 20]


def test_gangs_that_are_switched_off_while_they_hold_go_on_alone() -> None:
    stage = Stage()
    stage.gang(10, 11)
    stage.gang(20, 21)
    assert sorted(holds(stage.end_turns())) == [10, 11]
    assert sorted(told(stage.change(1, gangs=False))) == [10, 11]
    assert granted(stage.release(11, wants=True)) == [21]


def test_a_group_that_does_not_fit_on_one_of_its_devices_is_no_gang_and_that_is_said_once() -> None:
    stage = Stage()
    stage.join(10, 9, "a")
    stage.join(11, 9, "a")
    effects = stage.join(20, 9, "a")
    assert gangs(stage, 10, 11, 20) == [None] * 3
    reports = [effect for effect in effects if isinstance(effect, Report)]
    assert [(report.kind, report.client) for report in reports] == [(ReportKind.APART, 10)]
    assert not any(isinstance(effect, Report) for effect in stage.want(20))
    # When one of them shrinks, it is.
    stage.memory(20, 4)
    assert gangs(stage, 10, 11, 20) == [10] * 3
    assert [stage.client(one).gang.rides for one in (10, 11, 20)] == [False, False, True]
