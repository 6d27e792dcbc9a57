"""What adds up over the life of a client. Nothing is decided from it; people look at it."""

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counts and durations, in bytes and seconds."""

    turns: int = 0
    running: float = 0.0
    waited: float = 0.0
    longest_wait: float = 0.0
    moved_out: int = 0
    moved_in: int = 0
    moving: float = 0.0
    busy_ns: int = 0
    launches: int = 0
    throttled_ns: int = 0
    gpu_ns: int = 0

    running_since: float | None = None
    waiting_since: float | None = None

    def begin_wait(self, now: float) -> None:
        """There is work and no turn."""
        if self.waiting_since is None and self.running_since is None:
            self.waiting_since = now

    def begin_turn(self, now: float) -> None:
        """A turn was granted."""
        self.turns += 1
        if self.waiting_since is not None:
            wait = now - self.waiting_since
            self.waited += wait
            self.longest_wait = max(self.longest_wait, wait)
            self.waiting_since = None
        if self.running_since is None:
            self.running_since = now

    def end_turn(self, now: float) -> None:
        """The turn was given back."""
        if self.running_since is not None:
            self.running += now - self.running_since
            self.running_since = None

    def waited_until(self, now: float) -> float:
        """All the waiting, with that which goes on."""
        return self.waited + (now - self.waiting_since if self.waiting_since is not None else 0.0)

    def longest_wait_until(self, now: float) -> float:
        """The longest wait, which may be that which goes on."""
        present = now - self.waiting_since if self.waiting_since is not None else 0.0
        return max(self.longest_wait, present)

    def running_until(self, now: float) -> float:
        """All the time with a turn, with that which goes on."""
        return self.running + (now - self.running_since if self.running_since is not None else 0.0)
