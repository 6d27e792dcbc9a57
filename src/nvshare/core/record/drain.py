"""A client whose work in flight does not end (turns/undrained.py, turns/drain.py)."""

from dataclasses import dataclass
from math import inf

# What is left of a time with each later one.
_KEPT = 0.9


@dataclass(slots=True)
class Drain:
    """How often a client could not drain, and what is done about it."""

    # It cannot give way now, and is told nothing until ``retry_at``, if that is set.
    undrained: bool = False
    retry_at: float = 0.0
    # When it was first told to give way since it last could; and how often it could not.
    failing_since: float | None = None
    times: int = 0
    # How long it lately took to give way, the longest times above all: its kernels are as long.
    seconds: float = 0.0
    # When it was last told to bring its memory in so that its work in flight ends.
    helped_at: float = -inf

    def fail(self, since: float, retry_at: float, most_times: int) -> float:
        """Note that it could not drain, told to at ``since``. Return since when it could not."""
        if self.failing_since is None:
            self.failing_since = since
        self.retry_at, self.times = retry_at, min(self.times + 1, most_times)
        return self.failing_since

    def succeed(self, seconds: float) -> None:
        """Note that it has given its turn up after so long. Earlier failures count half as much."""
        self.failing_since, self.retry_at = None, 0.0
        self.times //= 2
        self.seconds = max(seconds, _KEPT * self.seconds)

    def note_undrained(self, *, undrained: bool) -> None:
        """Note whether it cannot give way now."""
        self.undrained = undrained

    def retry(self, at: float) -> None:
        """Note when it is told to give way again. 0: when somebody needs that."""
        self.retry_at = at

    def note_help(self, now: float) -> None:
        """Note that it was told to bring its memory in."""
        self.helped_at = now
