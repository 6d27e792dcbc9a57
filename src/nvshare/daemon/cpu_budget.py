"""Seconds of the daemon's time that somebody may use, and that fill up again."""

from dataclasses import dataclass


@dataclass(slots=True)
class CpuBudget:
    """Seconds that fill up with time, and never beyond the most."""

    rate: float
    most: float
    left: float
    at: float

    def fill(self, now: float) -> None:
        """Let time pass."""
        self.left = min(self.most, self.left + (now - self.at) * self.rate)
        self.at = now

    def spend(self, now: float, seconds: float) -> None:
        """Take some of it, at a time; it may be less than nothing after that."""
        self.fill(now)
        self.left -= seconds

    @property
    def pause(self) -> float:
        """How long it takes until something is there."""
        return max(0.0, -self.left / self.rate)
