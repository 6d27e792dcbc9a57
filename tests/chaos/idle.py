"""Whether a GPU is idle although a program wants it. Judges samples; takes none itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One sample of a GPU."""

    now: float
    # Counters: while they stay the same, it neither computes nor moves memory.
    activity: tuple[int, ...]
    is_wanted: bool
    is_excused: bool
    # How long processes on this GPU were runnable without a processor, since the beginning. The
    # machine causes that delay.
    delay: float = 0.0


class IdleWatch:
    """Follows one GPU."""

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._since: Sample | None = None
        self._is_told = False
        self._last: float | None = None
        self.longest = 0.0
        # How long the GPU was wanted without a fault that would have explained idleness.
        self.watched = 0.0

    def note(self, sample: Sample) -> float | None:
        """Take a sample. Returns how long the GPU has been idle if too long, once per idle time."""
        since, last = self._since, self._last
        is_due = sample.is_wanted and not sample.is_excused
        self._last = sample.now if is_due else None
        if is_due and last is not None:
            self.watched += sample.now - last
        if since is None or not is_due or sample.activity != since.activity:
            self._since, self._is_told = sample, False
            return None
        idle = sample.now - since.now - max(0.0, sample.delay - since.delay)
        self.longest = max(self.longest, idle)
        if idle <= self._bound or self._is_told:
            return None
        self._is_told = True
        return idle
