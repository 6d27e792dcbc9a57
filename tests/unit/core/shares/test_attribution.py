"""The part of a client's measured time that is its own while others have the device as well."""

import pytest

from nvshare.core.events import Given, LimitsChanged
from nvshare.core.record.device import RegimeName
from nvshare.core.settings import Limits, Mode, Priority

from ..stage import Stage
from .test_shares import compute_all_the_time, join, share


def work(stage: Stage, **seconds: float) -> None:
    """Let each client report that it had work on the device for so many seconds more."""
    stage.now += 0.5
    for name, more in seconds.items():
        key = int(name[1:])
        stage.used(key, stage.device.roster.clients[key].work.reported_busy + more)


def give(stage: Stage, client: int, seconds: float | None) -> None:
    stage.core.handle(Given(now=stage.now, client=client, seconds=seconds))


@pytest.fixture
def stage() -> Stage:
    """Two clients that run beside each other. The first has a share."""
    stage = Stage()
    join(stage, 1, 30)
    join(stage, 2, None)
    give(stage, 1, None)
    return stage


def test_alone_everything_is_ones_own() -> None:
    stage = Stage()
    join(stage, 1, 30)
    work(stage, c1=0.5)
    give(stage, 1, 0.2)
    assert share(stage, 1).own == 1.0


def test_beside_others_it_is_what_the_device_has_done_for_it(stage: Stage) -> None:
    work(stage, c1=0.4, c2=0.3)
    give(stage, 1, 0.32)
    assert share(stage, 1).own == 0.8
    # The time before also counts.
    work(stage, c1=0.4, c2=0.3)
    give(stage, 1, 0.24)
    assert share(stage, 1).own == 0.68


def test_while_the_others_rest_everything_is_its_own(stage: Stage) -> None:
    work(stage, c1=0.4, c2=0.3)
    give(stage, 1, 0.32)
    work(stage, c1=0.4, c2=0.0)
    assert share(stage, 1).own == 1.0
    work(stage, c1=0.4, c2=0.1)
    assert share(stage, 1).own == 0.8
    stage.leave(2)
    assert share(stage, 1).own == 1.0


def test_a_device_that_does_not_tell_has_everything_billed(stage: Stage) -> None:
    work(stage, c1=0.4, c2=0.3)
    assert share(stage, 1).own == 1.0


def test_what_was_measured_before_the_device_began_to_tell_does_not_count(stage: Stage) -> None:
    work(stage, c1=100.0, c2=0.3)
    give(stage, 1, None)
    work(stage, c1=0.4, c2=0.3)
    give(stage, 1, 0.32)
    assert share(stage, 1).own == 0.8


def test_too_little_is_not_compared(stage: Stage) -> None:
    work(stage, c1=0.05, c2=0.3)
    give(stage, 1, 0.0)
    assert share(stage, 1).own == 1.0


def test_it_is_never_less_than_an_even_part_and_never_more_than_all(stage: Stage) -> None:
    work(stage, c1=0.4, c2=0.3)
    give(stage, 1, 0.0)
    assert share(stage, 1).own == 0.5
    work(stage, c1=0.2, c2=0.3)
    give(stage, 1, 5.0)
    assert share(stage, 1).own == 1.0


def least(stage: Stage, client: int) -> float:
    """Its own part if the device has done nothing for it: an even part."""
    give(stage, client, None)
    work(stage, **{f"c{client}": 0.3})
    give(stage, client, 0.0)
    return share(stage, client).own


def test_those_who_take_turns_are_never_there_together() -> None:
    stage = Stage()
    for client, percent in ((1, 30), (2, 60), (3, 50)):
        join(stage, client, percent)
        give(stage, client, None)
    compute_all_the_time(stage, 1, 2)
    assert stage.device.state.regime is RegimeName.BUSY
    give(stage, 1, 0.0)
    give(stage, 2, 0.0)
    assert share(stage, 1).own == share(stage, 2).own == 1.0
    # The third is beside each of them, and has one of the two beside it, if not always the same.
    stage.used(3, 0.3)
    give(stage, 3, 0.0)
    assert [share(stage, client).own for client in (1, 2, 3)] == [0.5, 0.5, 0.5]


def test_where_some_go_before_others_all_take_turns(stage: Stage) -> None:
    work(stage, c1=0.4, c2=0.3)
    give(stage, 1, 0.2)
    high = Limits(priority=Priority.HIGH)
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=high))
    assert share(stage, 1).own == 1.0


def test_who_waits_for_its_turn_is_not_there() -> None:
    stage = Stage(turn_seconds=40.0)
    join(stage, 1, 30, size=12)
    join(stage, 2, 60, size=12)
    work(stage, c1=0.4, c2=0.3)
    (running,) = stage.device.roster.running
    assert least(stage, running) == 1.0


def test_where_nobody_schedules_all_are_there_together() -> None:
    stage = Stage(mode=Mode.CONCURRENT)
    for client in range(4):
        join(stage, client, 30)
    work(stage, c0=0.5, c1=0.5, c2=0.5)
    assert least(stage, 3) == pytest.approx(0.25, abs=0.011)
