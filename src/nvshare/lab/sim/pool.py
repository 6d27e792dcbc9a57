"""Work that shares an engine equally: transfers on one direction of the bus.

Everybody in the pool gets on at the same rate, so one number tells how far all have come.
"""

from enum import Enum
from math import inf


class Lane(Enum):
    """What can be going on for a program on a GPU."""

    COMPUTE = "compute"
    # On the compute engine as well, which it holds until it is served.
    FAULT = "fault"
    IN = "in"
    OUT = "out"


class Pool:
    """Who has how much left to do. ``rate`` is what each one gets per second."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self._ends: dict[int, float] = {}
        self._done = 0.0
        self.rate = 0.0

    def __len__(self) -> int:
        return len(self._ends)

    def __contains__(self, key: int) -> bool:
        return key in self._ends

    def start(self, key: int, amount: float) -> None:
        """Begin a piece of work."""
        if not self._ends:
            # Small numbers are exact for longer.
            self._done = 0.0
        self._ends[key] = self._done + amount

    def extend(self, key: int, amount: float) -> None:
        """Make a piece of work longer."""
        self._ends[key] += amount

    def left(self, key: int) -> float:
        """Return what is left of a piece of work."""
        return max(0.0, self._ends[key] - self._done)

    def stop(self, key: int) -> float:
        """End a piece of work, and return what was left of it."""
        left = self.left(key)
        del self._ends[key]
        return left

    def next(self) -> tuple[float, int | None]:
        """Return when the first is done, and who that is."""
        if not self._ends:
            return inf, None
        end, key = min((end, key) for key, end in self._ends.items())
        return max(0.0, end - self._done) / self.rate, key

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._done += seconds * self.rate
