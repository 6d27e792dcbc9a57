"""How a client's memory grows: in its turn, and as far as can be foreseen (host/safe_order.py)."""

from dataclasses import dataclass


@dataclass(slots=True)
class Growth:
    """What a client has gained, and whether it may gain more."""

    # Bytes that it has gained in its turn, for which there may be no room; and the part of them
    # that it has not used, because it was told to give way for them.
    grown: int = 0
    unused: int = 0
    # It may gain more memory; since when it has had its memory in a turn and gained none; and
    # whether it has had nothing to run for long, or may not run.
    growing: bool = False
    calm_since: float = 0.0
    absent: bool = False
    # Seconds for which it had held turns when it last gained memory; and the most of them that ever
    # passed from one gain to the next.
    gained_at: float = 0.0
    pace: float = 0.0

    def change(self, gained: int, *, in_turn: bool) -> None:
        """Note that memory was gained, or freed. What is freed is subtracted."""
        self.growing |= gained > 0
        if in_turn or gained < 0:
            self.grown = max(0, self.grown + gained)

    def gain(self, now: float, held: float, *, first: bool) -> None:
        """Note when the client gained memory, in time for which it has held turns.

        Up to its first memory a program starts, which says nothing about its pace.
        """
        if not first:
            self.pace = max(self.pace, held - self.gained_at)
        self.gained_at, self.calm_since = held, now

    def fit(self) -> None:
        """Note that there is room for what it has gained."""
        self.grown = 0

    def leave_unused(self, unused: int) -> None:
        """Note how much it has not used."""
        self.unused = unused

    def be_calm(self, since: float) -> None:
        """Note since when it has had its memory, and gained none."""
        self.calm_since = since

    def stop(self) -> None:
        """Note that it has grown."""
        self.growing = False

    def note_absent(self, *, absent: bool) -> None:
        """Note whether it is waited for."""
        self.absent = absent
