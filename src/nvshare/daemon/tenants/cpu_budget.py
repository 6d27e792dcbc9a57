"""A budget of the daemon's CPU time, which refills."""

from dataclasses import dataclass


@dataclass(slots=True)
class CpuBudget:
    """Seconds that refill with time, up to ``most``."""

    rate: float
    most: float
    left: float
    at: float

    def fill(self, now: float) -> None:
        """Refill up to now."""
        self.left = min(self.most, self.left + (now - self.at) * self.rate)
        self.at = now

    def spend(self, now: float, seconds: float) -> None:
        """Refill, then take some seconds; the rest may be negative."""
        self.fill(now)
        self.left -= seconds

    @property
    def pause(self) -> float:
        """The time until the budget is positive again."""
        return max(0.0, -self.left / self.rate)
