"""How much of a device's time may go into moving memory so that clients with claims need not wait.

Ending a turn early costs moves that would not be needed otherwise. ``move_budget`` is the part of
the time that may go into all moves, over the last minutes. Unused time is saved, up to that of a
few turns. While enough is saved, a client with a claim (credit.py) does not wait. When it is used
up, the client waits until enough is saved again: a little longer each time, and never longer than
for the end of the turn.
"""

from dataclasses import dataclass
from math import inf

# So many of the shortest turns.
TURNS = 4


@dataclass(slots=True)
class MoveBudget:
    """Seconds of moving that are saved; as of when; and the seconds moved in all until then."""

    saved: float | None = None
    counted_at: float = 0.0
    counted: float = 0.0
    # Seconds of the next moves that another budget has paid for.
    paid_elsewhere: float = 0.0

    def count(self, now: float, moving: float, rate: float, turn: float) -> None:
        """Bring it up to date. ``moving`` is for how long memory has moved in all."""
        most = _most(rate, turn)
        saved = most if self.saved is None else self.saved
        saved = min(most, saved + rate * max(0.0, now - self.counted_at))
        moved = moving - self.counted
        paid_elsewhere = min(moved, self.paid_elsewhere)
        self.paid_elsewhere -= paid_elsewhere
        # Turns that end on time move memory too, and cannot wait: they make no debt.
        self.saved = max(min(0.0, saved), saved - (moved - paid_elsewhere))
        self.counted_at, self.counted = now, moving

    def spend(self, seconds: float) -> None:
        """Take seconds out before the memory is moved."""
        self.saved = max(0.0, (self.saved or 0.0) - seconds)

    def leave_to_other(self, seconds: float) -> None:
        """Do not count so many seconds of the next moves: another budget has paid for them.

        Moves that were left to it before and did not happen are counted again.
        """
        self.paid_elsewhere = seconds

    def owe(self, seconds: float, rate: float, turn: float) -> None:
        """Take seconds out, and go into debt if too few are saved."""
        self.saved = max(-_most(rate, turn), (self.saved or 0.0) - seconds)

    def wait(self, cost: float, rate: float, turn: float, left: float = 0.0) -> float:
        """Return in how many seconds ``cost`` can be spent, if nothing else is.

        ``left`` is the part of a full budget that has to remain afterwards.
        """
        most = _most(rate, turn)
        if most <= 0:
            return inf if cost > 0 else 0.0
        # A cost beyond a full budget may be spent when the budget is full.
        needed = min(cost + left * most, most)
        return max(0.0, needed - (self.saved or 0.0)) / rate


def _most(rate: float, turn: float) -> float:
    """Return the most that can be saved."""
    return rate * TURNS * turn
