"""The time until a GPU is back at full speed after an event.

Work is counted in seconds that the finished kernels take on a GPU of their own. At full speed a
second gives almost a second of work. A GPU that pages, or whose program reads over the bus, gives
far less, however busy it looks.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

# A program's memory may lie a little differently in two runs, and kernels end in between.
FULL_SPEED = 0.95
WINDOW_S = 1.0

# Instants, and the work that was done by then.
Curve: TypeAlias = Sequence[tuple[float, float]]


def recovery_seconds(curve: Curve, event: float) -> float | None:
    """Return the time from an event until full speed. None: it was not seen again."""
    instants = [event, *(time for time, _ in curve if time > event)]
    for instant in instants:
        if not curve or instant + WINDOW_S > curve[-1][0]:
            return None
        done = work_at(curve, instant + WINDOW_S) - work_at(curve, instant)
        if done >= FULL_SPEED * WINDOW_S:
            return instant - event
    return None


def work_at(curve: Curve, instant: float) -> float:
    """Return the work that was done by an instant, which may lie between two samples."""
    after = bisect_right(curve, instant, key=lambda point: point[0])
    if after == 0:
        return 0.0
    if after == len(curve):
        return curve[-1][1]
    (begin, less), (end, more) = curve[after - 1], curve[after]
    return less + (more - less) * (instant - begin) / (end - begin)
