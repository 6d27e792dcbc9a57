"""How much of a device's time may go into moving memory so that somebody need not wait.

A change of turn before its time costs moves that would not be needed otherwise. ``move_budget`` is
the part of the time that may go into all moves, over the last minutes. What is not used is saved,
up to that of a few turns. While there is enough, who has a claim (credit.py) does not wait. When it
is used up, it waits until enough has come together again: a little longer each time, and never
longer than for the end of the turn.
"""

from dataclasses import dataclass
from math import inf

# How many turns, of those that are as short as they get.
TURNS = 4


@dataclass(slots=True)
class MoveBudget:
    """Seconds of moving that may still be spent; as of when; and what had been moved by then."""

    saved: float | None = None
    counted_at: float = 0.0
    counted: float = 0.0

    def count(self, now: float, moving: float, rate: float, turn: float) -> None:
        """Bring it up to date: for so long has memory moved, in all."""
        most = _most(rate, turn)
        saved = most if self.saved is None else self.saved
        saved = min(most, saved + rate * max(0.0, now - self.counted_at))
        # Turns that end in their time move memory too, and cannot wait: that is not owed.
        self.saved = max(min(0.0, saved), saved - (moving - self.counted))
        self.counted_at, self.counted = now, moving

    def spend(self, seconds: float) -> None:
        """Take so much out of it before it is moved."""
        self.saved = max(0.0, (self.saved or 0.0) - seconds)

    def owe(self, seconds: float, rate: float, turn: float) -> None:
        """Take so much out of it, also what is still to be saved."""
        self.saved = max(-_most(rate, turn), (self.saved or 0.0) - seconds)

    def wait(self, cost: float, rate: float, turn: float, left: float = 0.0) -> float:
        """Return how many seconds it takes until so much can be spent, if nothing else is.

        ``left`` is the part of what can be saved that is to be there afterwards.
        """
        most = _most(rate, turn)
        if most <= 0:
            return inf if cost > 0 else 0.0
        # What costs more than can ever be saved is let through when all is.
        needed = min(cost + left * most, most)
        return max(0.0, needed - (self.saved or 0.0)) / rate


def _most(rate: float, turn: float) -> float:
    """Return what can be saved."""
    return rate * TURNS * turn
