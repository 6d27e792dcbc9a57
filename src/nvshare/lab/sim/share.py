"""A program's share of compute, as native/interposer/shares/share.c keeps it.

The time of kernels is billed, and a program that has used everything waits. Here whole rows of
kernels pass at once.
"""

from nvshare.core.effects import SetLimits
from nvshare.lab.sim.bucket import MILLION, Bucket, Rate

NANOSECONDS = 1e9
_PERCENT = MILLION // 100


class Share:
    """The share of one program. Times are seconds."""

    def __init__(self) -> None:
        self._bucket = Bucket()
        self._rate: Rate | None = None
        self._may_burst = False
        # Another program wants the GPU, as far as this program has been told.
        self.is_wanted = False

    @property
    def is_kept(self) -> bool:
        """Whether there is a share, and it counts now."""
        return self._rate is not None and not (self._may_burst and not self.is_wanted)

    def change(self, order: SetLimits, now: float) -> None:
        """Take an order of the core."""
        percent, window = order.share.percent, round(order.share.window * NANOSECONDS)
        rate = None if percent is None else Rate(max(1, round(percent * _PERCENT)), window)
        self._bucket.change(self._rate, rate, _whole(now))
        self._rate = rate
        self._may_burst = order.limits.burst

    def bill(self, seconds: float, now: float) -> None:
        """Bill the seconds in which the GPU worked for this program alone."""
        if self._rate and self.is_kept and seconds > 0:
            self._bucket.bill(self._rate, _whole(seconds), _whole(now))

    def seconds(self, kernel: float, now: float) -> float | None:
        """Return how much may run in a row, in whole kernels. 0: nothing; None: anything.

        A kernel may begin while some of the share is left, and the share grows while it runs.
        """
        if self._rate is None:
            return None
        if not self.is_kept:
            self._bucket.forgive(_whole(now))
            return None
        left = self._bucket.left(self._rate, _whole(now)) / NANOSECONDS
        if left < 0:
            return 0.0
        part = self._rate.share / MILLION
        return kernel * (1 + left // (kernel * (1 - part))) if part < 1 else None

    def next(self) -> float:
        """Return when a program that has used everything may go on."""
        return 0.0 if self._rate is None else self._bucket.next(self._rate) / NANOSECONDS


def _whole(seconds: float) -> int:
    return round(seconds * NANOSECONDS)
