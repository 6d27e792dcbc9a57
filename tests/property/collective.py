"""Ranks that wait for each other on the GPU: the kernel of one spins until all others have come.

One in ``distance`` calls of a rank is a collective. A call that has passed the gate is in flight
until it ends, and a collective ends when all living ranks have launched it.
"""

from dataclasses import dataclass, field


@dataclass
class Collective:
    """The calls that the ranks of one program have launched, by rank."""

    # Calls from one collective to the next.
    distance: int
    calls: dict[int, int] = field(default_factory=dict)

    def join(self, rank: int) -> None:
        """Add a rank. Collectives launched before it came do not wait for it."""
        launched = max(self.calls.values(), default=0) // self.distance
        self.calls[rank] = launched * self.distance

    def leave(self, rank: int) -> None:
        """Remove a rank; no collective waits for it any more."""
        del self.calls[rank]

    def launch(self, rank: int) -> None:
        """Let one call of a rank pass, unless its thread waits for an earlier one."""
        if not self.spins(rank):
            self.calls[rank] += 1

    def run(self, rank: int) -> None:
        """Let calls of a rank pass until it has to wait for the others."""
        self.calls[rank] = max(self.calls[rank], (self._complete + 1) * self.distance)

    def spins(self, rank: int) -> bool:
        """Whether a rank has work in flight that waits for others."""
        return self.calls[rank] // self.distance > self._complete

    @property
    def _complete(self) -> int:
        """The number of collectives that all ranks have launched."""
        return min(calls // self.distance for calls in self.calls.values())
