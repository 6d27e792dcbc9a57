"""Reports of usage that make no difference are not heard."""

import pytest

from nvshare.core.events import LimitsChanged, UsageReported, Used
from nvshare.core.lease import IllegalTransition
from nvshare.core.replay import replay
from nvshare.core.settings import Limits, Mode
from nvshare.core.shares.report_filter import MANY, usage_pause

from ..stage import Stage


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.join(1, 1)
    return stage


def report(stage: Stage, after: float, busy: float, client: int = 1) -> None:
    stage.now += after
    event = UsageReported(
        now=stage.now, client=client, busy_seconds=busy, throttled_seconds=busy / 2
    )
    stage.core.handle(event)


def heard(stage: Stage) -> list[float]:
    events = [entry.event for entry in stage.core.journal.entries]
    return [event.busy_seconds for event in events if isinstance(event, Used)]


def test_a_client_is_heard_once_in_a_slice(stage: Stage) -> None:
    for busy in (0.25, 0.5, 0.75, 1.0, 1.25):
        report(stage, 0.25, busy)
    assert heard(stage) == [0.25, 1.25]
    stage.change(slice_seconds=0.5)
    for busy in (1.5, 1.75):
        report(stage, 0.25, busy)
    assert heard(stage) == [0.25, 1.25, 1.75]


def test_without_slices_it_is_heard_once_a_second(stage: Stage) -> None:
    stage.change(slice_seconds=0.0)
    for busy in (0.5, 1.0, 1.5):
        report(stage, 0.5, busy)
    assert heard(stage) == [0.5, 1.5]


def test_who_rests_is_heard_at_once(stage: Stage) -> None:
    report(stage, 0.25, 0.25)
    report(stage, 0.25, 0.5)
    report(stage, 0.25, 0.5)
    assert heard(stage) == [0.25, 0.5]
    # From then on, the next slice counts.
    report(stage, 0.75, 0.6)
    report(stage, 0.25, 0.7)
    assert heard(stage) == [0.25, 0.5, 0.7]


def test_a_counter_that_goes_back_is_no_rest(stage: Stage) -> None:
    report(stage, 0.25, 0.5)
    report(stage, 0.25, 0.25)
    report(stage, 0.25, 0.25)
    assert heard(stage) == [0.5]


def test_with_a_share_on_the_device_everybody_is_heard(stage: Stage) -> None:
    stage.join(2, 1)
    limits = Limits(compute_percent=30)
    stage.core.handle(LimitsChanged(now=stage.now, client=2, limits=limits))
    for busy in (0.25, 0.5):
        report(stage, 0.25, busy)
    assert heard(stage) == [0.25, 0.5]


def test_each_is_heard_for_itself(stage: Stage) -> None:
    stage.join(2, 1)
    for client in (1, 2):
        report(stage, 0.25, 0.25, client)
    assert heard(stage) == [0.25, 0.25]


def test_what_is_heard_is_what_was_reported(stage: Stage) -> None:
    report(stage, 0.25, 0.25)
    (*_, entry) = stage.core.journal.entries
    assert entry.event == Used(now=1000.25, client=1, busy_seconds=0.25, throttled_seconds=0.125)


def test_a_number_that_is_used_again_begins_anew(stage: Stage) -> None:
    report(stage, 0.25, 0.25)
    stage.leave(1)
    stage.join(1, 1)
    report(stage, 0.25, 0.125)
    assert heard(stage) == [0.25, 0.125]


def test_nobody_is_heard_who_is_not_there(stage: Stage) -> None:
    stage.leave(1)
    with pytest.raises(IllegalTransition) as caught:
        report(stage, 1.0, 1.0)
    assert "ClientLeft" in caught.value.journal[-1]


def test_a_journal_has_what_was_heard_and_can_be_replayed(stage: Stage) -> None:
    stage.join(2, 1)
    for second in range(12):
        report(stage, 0.25, second / 4)
        report(stage, 0.0, second / 4, 2)
    lines = list(stage.core.journal.lines())
    assert "UsageReported" not in "".join(lines)
    assert replay(lines, check=True) == []


def test_that_a_client_wants_its_turn_is_heard_once() -> None:
    stage = Stage(mode=Mode.SERIAL)
    for number in (1, 2):
        stage.join(number, 1)
        stage.want(number)
    heard = len(list(stage.core.journal.entries))
    for _ in range(3):
        assert stage.want(2) == []
    assert len(list(stage.core.journal.entries)) == heard
    # From a client that has a turn it is news: this turn ends.
    stage.want(1, turn=stage.device.roster.clients[1].turn.number)
    assert len(list(stage.core.journal.entries)) == heard + 1


def test_of_many_clients_each_is_heard_less_often() -> None:
    few, many = Stage(), Stage()
    few.join(1, 0)
    for number in range(MANY + MANY // 2):
        many.join(number, 0)
    assert usage_pause(few.settings, few.device.roster) == 1.0
    assert usage_pause(many.settings, many.device.roster) == 1.5
