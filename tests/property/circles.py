"""Notices when a history goes round in circles, and shows the events that repeat.

A mistake may make programs and core answer each other for ever, or make time stand still. Such a
test looks like a slow one. So events are counted. Far more of them than any sound history has is
a failure, and its message shows the last ones.
"""

from collections import deque

_TOLD = 24


class Circles:
    """Counts events until a new stretch begins."""

    def __init__(self, most: int, within: str) -> None:
        self._most = most
        self._within = within
        self._last: deque[str] = deque(maxlen=_TOLD)
        self._count = 0

    def begin(self) -> None:
        """Count from here on."""
        self._count = 0

    def note(self, now: float, what: object) -> None:
        """Count an event; raise if there are too many."""
        self._count += 1
        if self._count + _TOLD > self._most:
            # Only events that may be shown are put into words: most histories end long before.
            self._last.append(f"{now:g} s: {what}")
        assert self._count <= self._most, self._journal()

    def _journal(self) -> str:
        last = "\n  ".join(self._last)
        return (
            f"the history repeats itself: more than {self._most} events happened "
            f"{self._within}. The last events:\n  {last}"
        )
