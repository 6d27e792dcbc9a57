"""A client's memory on its way out or in, by orders and by reports."""

from dataclasses import dataclass


@dataclass(slots=True)
class Moving:
    """What a client was told to move, and what it waits for."""

    # Bytes it was told to move out, and has not reported yet.
    evicting: int = 0
    # Bytes that count as swapped, but have not left the device yet.
    outbound: int = 0
    # The most that it may move out by itself in this turn after it was asked to give way. It does
    # not report when it has read that it need not any more.
    offered: int = 0
    # When it last reported memory moved out, and in, or joined. A move reported later began later.
    out_at: float = 0.0
    in_at: float = 0.0
    # When it may be told again to move out memory that could not leave (turns/park.py).
    again_at: float = 0.0
    # Bytes of the memory it may be bringing in that had no room yet; and what it was told of that.
    missing: int = 0
    told_missing: int = 0
    # The ticket of its request for a context that has no room yet; 0: none.
    awaits_room: int = 0
    # Bytes that it has in while it holds a turn, if there is no room for all of them.
    filled: int | None = None

    @property
    def lacks_room(self) -> bool:
        """Whether memory has no room, or the client has still to be told that it has."""
        return self.missing > 0 or self.told_missing > 0

    def order(self, evicting: int) -> None:
        """Note how much is to leave by order."""
        self.evicting = evicting

    def note_outbound(self, outbound: int) -> None:
        """Note how much swapped memory has not left yet."""
        self.outbound = outbound

    def offer(self, offered: int) -> None:
        """Note how much it may move out by itself."""
        self.offered = offered

    def note_move(self, now: float, *, out: bool, into: bool) -> None:
        """Note that memory has moved in one direction, or both."""
        self.out_at = now if out else self.out_at
        self.in_at = now if into else self.in_at

    def wait(self, until: float) -> None:
        """Note when it may be told again."""
        self.again_at = until

    def lack(self, missing: int, told: int) -> None:
        """Note how much incoming memory has no room, and what it was told of that."""
        self.missing, self.told_missing = missing, told

    def await_room(self, ticket: int) -> None:
        """Note that it waits for room for its context, or with 0 that it does not."""
        self.awaits_room = ticket

    def fill(self, filled: int | None) -> None:
        """Note how much it has in while it holds its turn."""
        self.filled = filled
