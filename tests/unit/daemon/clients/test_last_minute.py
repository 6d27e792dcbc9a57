"""The last minute of a client, from made-up samples."""

import pytest

from nvshare.daemon.clients.last_minute import PARTS, LastMinute, Sample, time_parts
from nvshare.telemetry.time.client_time import Part


def sample(now: float, launches: int = 0, **parts: float) -> Sample:
    """A client's counters, in seconds."""
    spent = tuple(round(parts.get(part.value, 0.0) * 1e9) for part in Part)
    return Sample(now, spent, launches, moved_in=10 * launches, moved_out=launches)


def test_parts_of_time_keep_their_names() -> None:
    shown = time_parts(range(0, 70_000_000_000, 10_000_000_000)).model_dump()
    assert shown == {name: 10.0 * number for number, name in enumerate(PARTS)}


def test_who_has_just_come_has_no_past() -> None:
    recent = LastMinute().recent(sample(5.0, idle=1.0))
    assert (recent.seconds, recent.launches, recent.computing_percent) == (0.0, 0, ())


def test_only_the_last_minute_counts() -> None:
    minute = LastMinute()
    for second in range(200):
        minute.note(sample(second, second, computing=second / 4, waiting=second * 3 / 4))
    recent = minute.recent(sample(199.5, 201, computing=50.0, waiting=149.5))
    assert recent.seconds == pytest.approx(59.5)
    assert recent.attribution.computing == pytest.approx(15.0)
    assert recent.attribution.total == pytest.approx(recent.seconds)
    assert (recent.launches, recent.moved_in, recent.moved_out) == (61, 610, 61)
    assert recent.computing_percent == (25,) * 30


def test_who_came_lately_has_all_of_its_time() -> None:
    minute = LastMinute()
    minute.note(sample(100.0))
    minute.note(sample(101.0, idle=1.0))
    recent = minute.recent(sample(102.0, 7, idle=1.0, memory_in=1.0))
    assert recent.attribution.memory_in == 1.0
    assert recent.seconds == 2.0
    assert recent.launches == 7


def test_what_was_not_looked_at_has_gone_on_evenly() -> None:
    minute = LastMinute()
    minute.note(sample(100.0))
    minute.note(sample(110.0, 5, computing=5.0, idle=5.0))
    # There was no report since.
    recent = minute.recent(sample(200.0, 5, computing=5.0, idle=95.0))
    assert recent.seconds == pytest.approx(60.0)
    assert recent.attribution.idle == pytest.approx(60.0)
    assert recent.launches == 0
    assert recent.computing_percent == (0,) * 30
    # Half of the first ten seconds lies in the minute.
    recent = minute.recent(sample(165.0, 5, computing=5.0, idle=60.0))
    assert recent.attribution.computing == pytest.approx(2.5)


def test_one_that_is_looked_at_every_two_seconds_has_all_its_seconds() -> None:
    minute = LastMinute()
    for second in range(0, 100, 2):
        minute.note(sample(second, computing=second / 2, idle=second / 2))
    assert minute.recent(sample(98.5, computing=49.25, idle=49.25)).computing_percent == (50,) * 30
