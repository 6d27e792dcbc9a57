"""A share of time, kept as one number: the time up to which usage is paid for.

As in native/interposer/shares/bucket.c. Times are whole nanoseconds, shares are millionths.
"""

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of the time. ``window`` is the largest possible credit."""

    share: int
    window: int

    @property
    def rest_of_cycle(self) -> int:
        """The part of half a window that is left to others."""
        return self.window // 2 // MILLION * (MILLION - self.share)


@dataclass(slots=True)
class Bucket:
    """The usage of one program."""

    paid_until: int = 0

    def bill(self, rate: Rate, used: int, now: int) -> None:
        """Bill the time used."""
        # Credit that arose while it ran was not left unused.
        least = max(0, now - rate.window - used)
        self.paid_until = max(self.paid_until, least) + used * MILLION // rate.share

    def forgive(self, now: int) -> None:
        """Forgive excess usage: it is never paid for."""
        self.paid_until = min(self.paid_until, now)

    def left(self, rate: Rate, now: int) -> int:
        """Return the time that can be used now without waiting; negative: too much was used."""
        paid = max(self.paid_until, now - rate.window, 0)
        return _divide(_divide(now - paid, 1000) * rate.share, 1000)

    def next(self, rate: Rate) -> int:
        """Return when a program that has used everything may go on."""
        return self.paid_until + rate.rest_of_cycle

    def change(self, before: Rate | None, after: Rate | None, now: int) -> None:
        """Change the rate from now on; the new one gives no credit for the past."""
        had = before.window if before else 0
        if after:
            had = max(had, after.rest_of_cycle)
        self.paid_until = max(self.paid_until, now - had, 0)


def _divide(number: int, by: int) -> int:
    """Divide as C does: towards zero."""
    return number // by if number >= 0 else -(-number // by)
