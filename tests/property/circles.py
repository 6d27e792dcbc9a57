"""Notices when a history goes round in circles, and says what happens there again and again.

A mistake may have programs and core answer each other for ever, or time stand still. Nobody could
tell such a test from a slow one. So what happens is counted, and far more than any sound history
has is a failure that tells the last of it.
"""

from collections import deque

_TOLD = 24


class Circles:
    """Counts what happens until somebody says that a new stretch begins."""

    def __init__(self, most: int, within: str) -> None:
        self._most = most
        self._within = within
        self._last: deque[str] = deque(maxlen=_TOLD)
        self._count = 0

    def begin(self) -> None:
        """Count from here on."""
        self._count = 0

    def note(self, now: float, what: object) -> None:
        """Note that something has happened; raise if that is too much."""
        self._count += 1
        if self._count + _TOLD > self._most:
            # Only what would be told is put into words: most histories end long before.
            self._last.append(f"{now:g} s: {what}")
        assert self._count <= self._most, self._journal()

    def _journal(self) -> str:
        last = "\n  ".join(self._last)
        return (
            f"it goes round in circles: more than {self._most} things have happened "
            f"{self._within}. The last of them:\n  {last}"
        )
