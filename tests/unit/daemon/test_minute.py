"""The last minute of a client, from samples that a test makes up."""

import pytest

from nvshare.core.client_time import Part
from nvshare.daemon.minute import Minute, Sample


def sample(now: float, launches: int = 0, **parts: float) -> Sample:
    """A client's counters, in seconds."""
    spent = tuple(round(parts.get(part.value, 0.0) * 1e9) for part in Part)
    return Sample(now, spent, launches, moved_in=10 * launches, moved_out=launches)


def test_who_has_just_come_has_no_past() -> None:
    recent = Minute().recent(sample(5.0, idle=1.0))
    assert (recent.seconds, recent.launches, recent.computing_percent) == (0.0, 0, ())


def test_only_the_last_minute_counts() -> None:
    minute = Minute()
    for second in range(200):
        minute.note(sample(second, second, computing=second / 4, waiting=second * 3 / 4))
    recent = minute.recent(sample(199.5, 201, computing=50.0, waiting=149.5))
    assert recent.seconds == pytest.approx(59.5)
    assert recent.attribution.computing == pytest.approx(15.0)
    assert recent.attribution.total == pytest.approx(recent.seconds)
    assert (recent.launches, recent.moved_in, recent.moved_out) == (61, 610, 61)
    assert recent.computing_percent == (25,) * 30


def test_who_came_lately_has_all_of_its_time() -> None:
    minute = Minute()
    minute.note(sample(100.0))
    minute.note(sample(101.0, idle=1.0))
    recent = minute.recent(sample(102.0, 7, idle=1.0, memory_in=1.0))
    assert recent.attribution.memory_in == 1.0
    assert recent.seconds == 2.0
    assert recent.launches == 7
