"""How long to sleep between two looks at something that takes its time."""

from collections.abc import Iterator

_SHORTEST, _LONGEST = 0.01, 0.05


def pauses() -> Iterator[float]:
    """Yield seconds, without end: a few short ones, and then longer ones.

    Several tests wait at the same time, and to look takes time from what they wait for.
    """
    pause = _SHORTEST
    while True:
        yield pause
        pause = min(_LONGEST, pause * 1.1)
