import time

import pytest

from nvshare.cli.lab.trial import lateness


class Clock:
    """A machine that wakes sleepers late."""

    def __init__(self, late: float) -> None:
        self.now = 100.0
        self._late = late

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self._late


@pytest.mark.parametrize(("late", "percent"), [(0.0, 0.0), (0.005, 50.0), (0.015, 75.0)])
def test_what_is_slept_too_long_is_lateness(
    monkeypatch: pytest.MonkeyPatch, late: float, percent: float
) -> None:
    clock = Clock(late)
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    sleeper = lateness.Lateness()
    assert sleeper.percent == 0
    sleeper.sleep_until(101.0)
    assert clock.now >= 101.0
    assert sleeper.percent == pytest.approx(percent, abs=1.0)
