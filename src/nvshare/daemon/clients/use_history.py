"""How much of a GPU's time a client has used lately. For display only; no decision uses it."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence

# The spans that users are shown, in seconds.
SPANS = (1, 10, 60)
# Clients report four times a second, and less often where there are many (settings.py).
# Faster reports replace each other, and so the length is bounded.
_SOON = 0.1
_SELDOM = 10.0


class UseHistory:
    """The values of a counter of busy time over a minute, each with its time.

    Kept in arrays: a snapshot of a hundred clients reads a hundred minutes, and as objects these
    would not fit into a processor's cache.
    """

    def __init__(self) -> None:
        self._times = array("d")
        self._busy = array("d")

    def note(self, now: float, busy_seconds: float) -> None:
        """Record the counter; a value soon after another replaces it."""
        times, busy = self._times, self._busy
        if len(times) > 1 and now - times[-2] < _SOON:
            times.pop()
            busy.pop()
        times.append(now)
        busy.append(busy_seconds)
        # One value older than the longest span is kept, to interpolate up to the next.
        while len(times) > 2 and times[1] < now - SPANS[-1]:
            del times[0], busy[0]

    def percents(self, now: float) -> dict[int, float]:
        """Return the client's use of the GPU in each span, in percent."""
        times, busy = self._times, self._busy
        if not times:
            return dict.fromkeys(SPANS, 0.0)
        last_at, last = times[-1], busy[-1]
        pause = last_at - times[-2] if len(times) > 1 else 0.0
        # Until the next report is due, the use after the last one is unknown.
        end = last_at if now - last_at <= min(pause, _SELDOM) else now
        percents = {}
        for span in SPANS:
            percent = 100 * (last - _at(times, busy, end - span)) / span
            percents[span] = percent if 0.0 <= percent <= 100.0 else max(0.0, min(100.0, percent))
        return percents


def _at(times: Sequence[float], busy: Sequence[float], moment: float) -> float:
    """Return the counter at some time, interpolated linearly."""
    place = bisect_right(times, moment)
    if place == 0:
        return busy[0]
    if place == len(times):
        return busy[-1]
    before, low = times[place - 1], busy[place - 1]
    return low + (busy[place] - low) * (moment - before) / (times[place] - before)
