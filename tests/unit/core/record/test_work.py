import pytest

from nvshare.core.events import Used
from nvshare.core.lease import State
from nvshare.core.record.client import Client
from nvshare.core.record.turn import Turn

from ..stage import Stage


@pytest.fixture
def client() -> Client:
    """A client that has held a turn since 100, and has reported 50 busy seconds so far."""
    client = Client(1, state=State.RUNNING, turn=Turn(granted_at=100.0))
    assert not report(client, 100.0, 0.0)
    return client


def report(client: Client, now: float, busy_seconds: float, throttled: float = 0.0) -> bool:
    held = client.held_seconds(now)
    client.work.note_busy(busy=client.work.is_busy(held, 50.0 + busy_seconds, throttled, 1.0))
    return client.work.busy


def test_who_is_busy_for_nine_tenths_of_its_turn_is_busy(client: Client) -> None:
    assert not report(client, 101.0, 0.89)
    assert report(client, 102.0, 0.89 + 0.91)


def test_who_is_busy_stays_it_until_it_is_so_for_less_than_eight_tenths(client: Client) -> None:
    assert report(client, 101.0, 1.0)
    assert report(client, 102.0, 1.81)
    assert not report(client, 103.0, 2.6)


def test_nobody_is_judged_by_less_than_a_window(client: Client) -> None:
    assert not report(client, 100.9, 0.9)
    assert report(client, 101.0, 1.0)
    assert report(client, 101.5, 1.0)
    assert not report(client, 102.0, 1.0)


def test_the_time_in_which_it_holds_no_turn_does_not_count(client: Client) -> None:
    client.work.note_turn_end(0.6)
    client.state = State.WAITING
    assert not report(client, 130.0, 0.6)
    client.state, client.turn.granted_at = State.RUNNING, 140.0
    assert report(client, 140.5, 1.1)


def test_the_time_of_giving_way_counts(client: Client) -> None:
    client.state = State.YIELDING
    assert not report(client, 102.0, 1.0)


def test_what_was_counted_before_the_first_report_says_nothing() -> None:
    client = Client(1, state=State.RUNNING, turn=Turn(granted_at=100.0))
    assert not report(client, 200.0, 1000.0)
    assert not report(client, 201.0, 1000.2)


def test_a_counter_that_begins_anew_is_not_busy(client: Client) -> None:
    assert report(client, 101.0, 1.0)
    assert not report(client, 102.0, -40.0)
    assert report(client, 103.0, -39.0)


def test_who_is_held_back_by_its_share_is_as_busy_as_it_can_be(client: Client) -> None:
    assert report(client, 101.0, 0.3, throttled=0.7)
    # It was held back before, and is not any more.
    assert not report(client, 102.0, 0.6, throttled=0.7)


def test_who_is_held_back_by_its_share_is_busy_at_the_next_report(client: Client) -> None:
    assert report(client, 100.25, 0.1, throttled=0.05)


def test_who_has_had_work_since_its_last_report_is_active() -> None:
    client = Client(1, state=State.RUNNING)
    assert client.work.is_active(50.0)
    assert not client.work.is_active(50.0)
    assert client.work.is_active(50.1)


@pytest.mark.parametrize("running", [False, True])
def test_of_who_has_just_come_the_first_report_is_known_to_be_new(running: bool) -> None:
    """A client that runs already may have counted for hours."""
    stage = Stage()
    stage.join(1, running=running)
    stage.core.handle(Used(now=stage.now + 0.25, client=1, busy_seconds=0.1, throttled_seconds=0.1))
    assert stage.device.roster.clients[1].work.busy is not running
