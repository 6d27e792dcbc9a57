"""Whether a GPU does nothing though somebody wants it. Sees samples; looks at nothing itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One look at a GPU."""

    now: float
    # Counters: as long as they stay the same, it neither computes nor moves memory.
    activity: tuple[int, ...]
    is_wanted: bool
    is_excused: bool
    # For how long processes that have to do with it could have run, and did not get a processor,
    # since the beginning. That is the machine's doing.
    delay: float = 0.0


class IdleWatch:
    """Follows one GPU."""

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._since: Sample | None = None
        self._is_told = False
        self._last: float | None = None
        self.longest = 0.0
        # For how long somebody has wanted it, and nothing would have explained that it was idle.
        self.watched = 0.0

    def note(self, sample: Sample) -> float | None:
        """Take a sample. Returns for how long it has been idle if that is too long, once a time."""
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
