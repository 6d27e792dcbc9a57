"""Recent use: a number of seconds that halves as time passes, and the clock by which it grows.

No event looks at all clients. A device has one clock, which shows the use of a client that had
always been among those that hold it. A client with a turn remembers what the clock showed when its
turn began, and its own use then. All uses decay alike, so those of clients that wait keep their
order.
"""

from dataclasses import dataclass
from math import log, log2

# The time after which a use counts half, in shortest turns: three minutes by default. A shorter one
# forgets who had the last turn, a longer one has programs pay for what nobody remembers.
HALF_LIFE_TURNS = 6
# As a part of the half-life. Clients that have used less are served in the order of arrival.
_LEAST = 1e-6


def half_life_of(turn_min: float) -> float:
    """Return the time after which a use counts half."""
    return HALF_LIFE_TURNS * turn_min


def whole_of(half_life: float) -> float:
    """Return the use of a client that has always had a device for itself."""
    return half_life / log(2)


def decay(seconds: float, half_life: float) -> float:
    """Return the part of a use that is left after so many seconds."""
    return float(2.0 ** (-seconds / half_life))


@dataclass(frozen=True, slots=True)
class Use:
    """A client's use at one moment. ``mark``: what the clock showed then, while it has a turn."""

    seconds: float = 0.0
    at: float = 0.0
    mark: float | None = None

    def rank(self, half_life: float) -> float:
        """Return a number that orders uses that only decay, whenever they were taken."""
        return self.at + half_life * log2(max(self.seconds / half_life, _LEAST))


@dataclass(slots=True)
class UseClock:
    """The use of a client that had always been among those that hold the device."""

    at: float = 0.0
    reading: float = 0.0
    # Seconds of moves in all so far, and those of them that are not subtracted yet.
    moving: float = 0.0
    unpaid: float = 0.0

    def advance(self, now: float, half_life: float, holders: int, moving: float) -> None:
        """Charge the time until now to so many holders. None: nothing is charged."""
        elapsed = now - self.at
        self.unpaid += moving - self.moving
        self.moving = moving
        if elapsed <= 0:
            return
        kept = decay(elapsed, half_life)
        self.reading *= kept
        if holders:
            moved = min(elapsed, self.unpaid)
            rate = (1 - moved / elapsed) / holders
            self.reading += rate * whole_of(half_life) * (1 - kept)
            self.unpaid -= moved
        else:
            self.unpaid = 0.0
        self.at = now

    def read(self, use: Use, half_life: float, weight: float) -> float:
        """Return a use as it is now."""
        kept = decay(self.at - use.at, half_life)
        charged = 0.0 if use.mark is None else self.reading - use.mark * kept
        return use.seconds * kept + max(0.0, charged) / weight
