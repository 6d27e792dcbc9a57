"""The turn of a client: the one that it holds, or held last, and how it is to end."""

from dataclasses import dataclass


@dataclass(slots=True)
class Turn:
    """Written by these methods only, as each part of a client's record."""

    # Its number; and that of a turn that the client may be handed before the core hears of it.
    number: int = 0
    next: int | None = None
    granted_at: float = 0.0
    # The client said, while holding it, that there is work at its closed gate.
    wants: bool = False
    # The client runs although no daemon has let it: it waited in vain for one, or began without.
    # Where it does not fit, it makes way for clients that have a turn.
    ungranted: bool = False
    # The client was asked to give way when idle; and for how long it was to rest before that.
    soft_revoked: bool = False
    idle_seconds: float = 0.0
    # It was told to give way, did not, and others go on without it.
    overdue: bool = False
    # The turn that it was asked or told to give up was a slice.
    sliced: bool = False

    def begin(self, number: int, now: float) -> None:
        """Note that the client was granted a turn."""
        self.number, self.next, self.granted_at = number, None, now

    def go_on(self, number: int, now: float) -> None:
        """Note that it goes on with the turn in which it rested, by another number."""
        self.number, self.granted_at, self.wants = number, now, False

    def promise(self, number: int) -> int:
        """Note the number of the turn that it may be handed, and return it."""
        self.next = number
        return number

    def note_want(self) -> None:
        """Note that there is work at its closed gate."""
        self.wants = True

    def end(self) -> None:
        """Note that it has given the turn up."""
        self.wants = self.ungranted = False

    def ask(self) -> None:
        """Note that it was asked to give way when idle."""
        self.soft_revoked = True

    def forget_orders(self) -> None:
        """Note that what it was told is void."""
        self.soft_revoked = self.overdue = False

    def go_on_without(self) -> None:
        """Note that others do not wait for it any more."""
        self.soft_revoked, self.overdue = False, True

    def expect_rest(self, seconds: float) -> None:
        """Note how long it is to rest before it gives way."""
        self.idle_seconds = seconds

    def note_slice(self, *, sliced: bool) -> None:
        """Note whether the turn that it is to give up is a slice."""
        self.sliced = sliced
