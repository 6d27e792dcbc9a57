"""Memory of a client beyond its limit, which is to be on the host (moves/over_limit.py)."""

from dataclasses import dataclass


@dataclass(slots=True)
class Excess:
    """How much a client has too much, and what was ordered out in its turn."""

    over_limit: int = 0
    # How many bytes of that have left, or were ordered out, in the turn that it holds. Memory that
    # comes back in a turn is in use, and stays.
    trimmed: int = 0
    # Bytes that are out, or were ordered out, in its turn.
    trims: int = 0

    def note(self, over_limit: int) -> None:
        """Note how much is beyond the limit."""
        self.over_limit = over_limit

    def trim(self, trimmed: int) -> None:
        """Note how much of it need not be ordered out in this turn."""
        self.trimmed = trimmed

    def note_trims(self, trims: int) -> None:
        """Note how much is out in this turn."""
        self.trims = trims
