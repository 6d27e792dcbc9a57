"""How late this machine wakes sleeping processes: whether a measurement says much about nvshare."""

import time

_NAP_S = 0.005


class Lateness:
    """Sleeps in short naps, and reads the clock after each."""

    def __init__(self) -> None:
        self._slept = 0.0
        self._late = 0.0

    def sleep_until(self, moment: float) -> None:
        """Sleep until a moment of the monotonic clock."""
        while (before := time.monotonic()) < moment:
            nap = min(_NAP_S, moment - before)
            time.sleep(nap)
            slept = time.monotonic() - before
            self._slept += slept
            self._late += slept - nap

    @property
    def percent(self) -> float:
        """The part of the time in which it should have been awake and was not."""
        return 100.0 * self._late / self._slept if self._slept else 0.0
