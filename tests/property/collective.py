"""Ranks that wait for each other on the GPU: the kernel of one spins until all others have come.

One in ``distance`` calls of a rank is a collective. A call that has passed the gate is in flight
until it ends, and a collective ends when all living ranks have launched it. Ranks are never quite
equally far: each is some calls past the last complete collective, its *lead*. With a lead as long
as the distance, a rank has launched its part of the next one, and spins.
"""

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass
class Collective:
    """The calls that the ranks of one program have launched, by rank."""

    # Calls from one collective to the next.
    distance: int
    # The difference between the leads of two ranks that joined one after the other.
    stagger: int = 0
    # Whether some rank has not begun yet. The others wait for it in the first collective.
    is_partial: bool = False
    calls: dict[int, int] = field(default_factory=dict)
    leads: dict[int, int] = field(default_factory=dict)

    def join(self, rank: int) -> None:
        """Add a rank. Collectives launched before it came do not wait for it."""
        launched = max(self.calls.values(), default=0) // self.distance
        launched = 0 if self.is_partial else launched
        self.calls[rank] = launched * self.distance
        self.leads[rank] = len(self.leads) * self.stagger % (self.distance + 1)

    def leave(self, rank: int) -> None:
        """Remove a rank; no collective waits for it any more."""
        del self.calls[rank]

    def launch(self, rank: int) -> None:
        """Let one call of a rank pass, unless its thread waits for an earlier one."""
        if not self.spins(rank):
            self.calls[rank] += 1

    def run(self, ranks: Collection[int]) -> None:
        """Let calls of these pass: until they wait for others, or as far as their leads."""
        self._reach(dict.fromkeys(ranks, self.distance))
        self._reach({rank: self.leads[rank] for rank in ranks})

    def _reach(self, leads: dict[int, int]) -> None:
        done = self._complete * self.distance
        for rank, lead in leads.items():
            self.calls[rank] = max(self.calls[rank], done + lead)

    def end(self, ranks: Collection[int]) -> None:
        """Let all ranks complete what any of them has begun."""
        self._reach(dict.fromkeys(ranks, self.distance))

    def spins(self, rank: int) -> bool:
        """Whether a rank has work in flight that waits for others."""
        return self.calls[rank] // self.distance > self._complete

    @property
    def _complete(self) -> int:
        """The number of collectives that all ranks have launched."""
        if self.is_partial:
            return 0
        return min(calls // self.distance for calls in self.calls.values())
