"""Work that shares an engine equally: transfers on one direction of the bus.

All work in the pool advances at the same rate, so one number gives the progress of all.
"""

from enum import Enum
from math import inf


class Lane(Enum):
    """The kinds of operations that a program can have on a GPU."""

    COMPUTE = "compute"
    # On the compute engine as well, which it holds until it is served.
    FAULT = "fault"
    IN = "in"
    OUT = "out"


class Pool:
    """The remaining work of each program. ``rate`` is the progress of each per second."""

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
        """Return the rest of a piece of work."""
        return max(0.0, self._ends[key] - self._done)

    def stop(self, key: int) -> float:
        """End a piece of work, and return the rest of it."""
        left = self.left(key)
        del self._ends[key]
        return left

    def next(self) -> tuple[float, int | None]:
        """Return when the first piece of work is done, and its key."""
        if not self._ends:
            return inf, None
        end, key = min((end, key) for key, end in self._ends.items())
        return max(0.0, end - self._done) / self.rate, key

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._done += seconds * self.rate
