"""Where a client stands among those that want the device: by its recent use (precedence/)."""

from dataclasses import dataclass

from nvshare.core.record.use import Use

NO_USE = Use()


@dataclass(slots=True)
class Precedence:
    """A client's recent use, and what it may do by that."""

    use: Use = NO_USE
    # Its place in the queue: the policy's rank when it began to wait.
    rank: float = 0.0
    # It has had no turn yet.
    is_new: bool = False
    # It has rested, or is new, and may interrupt others once; it has computed in bursts since it
    # last rested; and it has interrupted others, which come back after it at its cost.
    visits: bool = False
    bursts: bool = False
    intrudes: bool = False
    # How long its turn had lasted, if another client interrupted it.
    interrupted: float | None = None
    # When it last gave up a turn, or joined.
    served_at: float = 0.0

    def charge(self, use: Use) -> None:
        """Note its recent use."""
        self.use = use

    def queue(self, rank: float) -> None:
        """Note its place in the queue."""
        self.rank = rank

    def come(self, *, visits: bool) -> None:
        """Note whether it pays a visit, now that it wants the device."""
        self.visits = self.bursts = visits

    def queue_like(self, like: "Precedence") -> None:
        """Take the place of another client."""
        self.rank, self.visits, self.bursts = like.rank, like.visits, like.bursts
        self.interrupted = like.interrupted

    def intrude(self) -> None:
        """Note that it interrupts others."""
        self.intrudes = True

    def interrupt(self, lasted: float) -> None:
        """Note that it was interrupted."""
        self.interrupted = lasted

    def forget_interruption(self) -> None:
        """Note that it has nothing to go on with."""
        self.interrupted = None

    def begin_turn(self) -> None:
        """Note that it has what it wanted."""
        self.is_new = self.visits = self.intrudes = False
        self.interrupted = None

    def serve(self, now: float) -> None:
        """Note that its turn is over, and that it was not interrupted in it."""
        self.served_at, self.bursts = now, False
