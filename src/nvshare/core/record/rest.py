"""How long a client rests, and whether it was asked to give its turn up for that."""

from dataclasses import dataclass


@dataclass(slots=True)
class Rest:
    """A client's rests."""

    # Since when it has rested, if it gave its turn up for that; and the length of its last rest.
    since: float | None = None
    last: float = 0.0
    # Since when it has been asked to give its turn up after a long rest (turns/park.py), if it has;
    # and the length of that rest.
    asked_at: float | None = None
    asked_seconds: float = 0.0

    def begin(self, since: float) -> None:
        """Note that it rests."""
        self.since = since

    def end(self, now: float) -> None:
        """Note that its rest ends now, if it gave its last turn up for one."""
        if self.since is not None:
            self.last = now - self.since

    def ask(self, now: float | None, seconds: float = 0.0) -> None:
        """Note that it was asked to give its turn up after a rest. None: it is not any more."""
        self.asked_at, self.asked_seconds = now, seconds
