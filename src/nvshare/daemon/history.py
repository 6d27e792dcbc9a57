"""How much of a GPU's time a client has used lately. Nobody decides by it; people look at it."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from math import inf

# What people are shown, in seconds.
SPANS = (1, 10, 60)
# Clients tell four times a second, and less often where there are many (client_settings.py). What
# comes faster is not kept, and so there is a bound to it.
_SOON = 0.1
_SELDOM = 10.0


class History:
    """What a counter of busy time was, at the times at which it was told, for a minute."""

    def __init__(self) -> None:
        self._told: deque[tuple[float, float]] = deque()

    def note(self, now: float, busy_seconds: float) -> None:
        """Take the counter down; one that comes soon after another replaces it."""
        if len(self._told) > 1 and now - self._told[-2][0] < _SOON:
            self._told.pop()
        self._told.append((now, busy_seconds))
        # One that is older than the longest span is kept, for what was before the next.
        while len(self._told) > 2 and self._told[1][0] < now - SPANS[-1]:
            self._told.popleft()

    def percents(self, now: float) -> dict[int, float]:
        """Return how much of each span the client has used the GPU, in percent."""
        # Without a copy: a minute of a hundred clients is more than a processor's cache holds.
        told = self._told
        if not told:
            return dict.fromkeys(SPANS, 0.0)
        last_at, last = told[-1]
        pause = last_at - told[-2][0] if len(told) > 1 else 0.0
        # Until the next report is due, nobody knows what was used after the last one.
        end = last_at if now - last_at <= min(pause, _SELDOM) else now
        used = {span: last - _at(told, end - span) for span in SPANS}
        return {span: max(0.0, min(100.0, 100 * part / span)) for span, part in used.items()}


def _at(told: Sequence[tuple[float, float]], moment: float) -> float:
    """Return the counter at some time, as if it had gone straight from one to the next."""
    place = bisect_right(told, (moment, inf))
    if place == 0:
        return told[0][1]
    if place == len(told):
        return told[-1][1]
    (before, low), (after, high) = told[place - 1], told[place]
    return low + (high - low) * (moment - before) / (after - before)
