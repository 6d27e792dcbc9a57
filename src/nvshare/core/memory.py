"""The arithmetic of memory: what a client has where, and what fits together. Decides nothing.

A client's memory is pinned (cannot leave the device) or swappable. Pinned memory takes room from
all clients all the time, whether its owner runs or not. A client's context is pinned memory too: a
shell that knows its size adds it to both ``allocated`` and ``pinned``, and gives it as ``context``,
since limits do not count it.
"""

from dataclasses import dataclass, replace
from enum import Enum


class Kind(Enum):
    """How a program's allocations are made."""

    MANAGED = "managed"
    NATIVE = "native"
    """Its memory cannot move: all of it counts as pinned."""
    EXPLICIT = "explicit"
    """The client copies its memory out and in itself. The driver does not push it out, and use does
    not bring it back: all of it has to be on the device during a turn."""
    MIXED = "mixed"
    """Explicit memory, and managed memory for the part that did not fit on the device at once."""

    @property
    def is_copied(self) -> bool:
        """Whether its owner copies some of it, which no driver pushes out then."""
        return self in (Kind.EXPLICIT, Kind.MIXED)


@dataclass(frozen=True, slots=True)
class Memory:
    """What a client has allocated on a device, in bytes.

    ``swapped`` is what would have to be moved in for the client to run well: memory on the host, on
    its way there, or allocated behind a closed gate and nowhere yet. All numbers are totals, never
    changes, so no report can make them drift.
    """

    allocated: int = 0
    pinned: int = 0
    swapped: int = 0
    # The swapped memory that is nowhere yet, and so not on the host either.
    untouched: int = 0
    # Memory that has pages on the host: it was there once, and may be back on the device.
    kept: int = 0
    # The pinned memory that the program has not asked for.
    context: int = 0

    def as_kind(self, kind: Kind) -> "Memory":
        """Return the same memory with consistent numbers, whatever a client claimed."""
        allocated = max(0, self.allocated)
        pinned = allocated if kind is Kind.NATIVE else min(max(0, self.pinned), allocated)
        swapped = min(max(0, self.swapped), allocated - pinned)
        untouched = min(max(0, self.untouched), swapped)
        kept = min(max(0, self.kept), allocated - pinned)
        context = min(max(0, self.context), pinned)
        return Memory(allocated, pinned, swapped, untouched, kept, context)

    @property
    def own(self) -> int:
        """The bytes that the program has asked for."""
        return self.allocated - self.context

    def with_context(self, context: int) -> "Memory":
        """Return the same memory with a context of another size."""
        more = context - self.context
        return replace(
            self, allocated=self.allocated + more, pinned=self.pinned + more, context=context
        )

    @property
    def swappable(self) -> int:
        """The bytes beside the pinned ones that have to be on the device for it to run well."""
        return self.allocated - self.pinned

    @property
    def resident(self) -> int:
        """The swappable bytes that are on the device now."""
        return self.allocated - self.pinned - self.swapped


NO_MEMORY = Memory()


@dataclass(slots=True)
class Load:
    """The total weight of a set of clients, kept up to date as they come and go."""

    weight: int = 0
    heavy: int = 0
    """The number of clients whose weight is not 0."""

    def add(self, weight: int, sign: int = 1) -> None:
        """Count a client in, or out with sign -1."""
        self.weight += sign * weight
        self.heavy += sign * (weight > 0)

    def fits(self, capacity: int) -> bool:
        """Whether the set may run together. A client that is too large alone runs alone."""
        return self.weight <= capacity or self.heavy <= 1

    def admits(self, weight: int, capacity: int) -> bool:
        """Whether a weight fits beside the set. A weight of 0 always does."""
        return weight == 0 or self.heavy == 0 or self.weight + weight <= capacity
