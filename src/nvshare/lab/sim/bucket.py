"""A share of time, kept by one number: until when the time that was used is paid for.

As native/interposer/shares/bucket.c keeps it. Times are whole nanoseconds, shares are millionths.
"""

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of the time. ``window`` is the most that can be to somebody's credit."""

    share: int
    window: int

    @property
    def rest_of_cycle(self) -> int:
        """What of half a window is left to others."""
        return self.window // 2 // MILLION * (MILLION - self.share)


@dataclass(slots=True)
class Bucket:
    """What somebody has used."""

    paid_until: int = 0

    def bill(self, rate: Rate, used: int, now: int) -> None:
        """So much was used."""
        # What came to its credit while it ran was not left unused.
        least = max(0, now - rate.window - used)
        self.paid_until = max(self.paid_until, least) + used * MILLION // rate.share

    def forgive(self, now: int) -> None:
        """What is used in excess stays unpaid for good."""
        self.paid_until = min(self.paid_until, now)

    def left(self, rate: Rate, now: int) -> int:
        """Return what could be used now without waiting; 0 or less: nothing."""
        paid = max(self.paid_until, now - rate.window, 0)
        return _divide(_divide(now - paid, 1000) * rate.share, 1000)

    def next(self, rate: Rate) -> int:
        """Return when somebody goes on who has used everything."""
        return self.paid_until + rate.rest_of_cycle

    def change(self, before: Rate | None, after: Rate | None, now: int) -> None:
        """There is another rate from now on, which brings no credit for the past."""
        had = before.window if before else 0
        if after:
            had = max(had, after.rest_of_cycle)
        self.paid_until = max(self.paid_until, now - had, 0)


def _divide(number: int, by: int) -> int:
    """Divide as C does: towards zero."""
    return number // by if number >= 0 else -(-number // by)
