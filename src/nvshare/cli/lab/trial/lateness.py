"""How late this machine wakes those who sleep: whether a measurement tells of nvshare or of it."""

import time

_NAP_S = 0.005


class Lateness:
    """Somebody who sleeps in naps, and looks at the clock when it wakes up."""

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
        """Of the time, that in which it was to be awake and was not."""
        return 100.0 * self._late / self._slept if self._slept else 0.0
