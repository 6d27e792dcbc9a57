"""The memory of a GPU: how much each program has on it, and which memory leaves when it is full.

The driver's rule, as in lab/emulator/model/chunks.c: the memory that it served first leaves first,
used or not. Memory that was moved out gives its room to the next arrival, whatever the driver's
count of free memory says.

A program goes through its memory from end to end and begins again. Its part on the GPU is therefore
one piece of that circle. Arrivals lengthen it at one end, where it is also shortened when the
program itself moves some out (native/interposer/moves/ring.h). Evictions for others shorten it at
the other end. So its length and the distance to its end are enough.
"""

from collections import deque
from dataclasses import dataclass


@dataclass(slots=True)
class Holding:
    """One program's memory, in bytes."""

    allocated: int = 0
    # The allocation once the core has answered; never less than the present one.
    wanted: int = 0
    # Memory that was written or touched at least once, on the GPU or away; and memory that kernels
    # have been launched for, which is created when they reach it.
    populated: int = 0
    launched: int = 0
    resident: int = 0
    # The part of the resident memory that is on its way to the host.
    leaving: int = 0
    # The part of the resident memory that the program will use before it misses anything.
    ahead: int = 0
    # Memory with pages on the host: they stay when it comes back.
    kept: int = 0

    @property
    def missing(self) -> int:
        """Bytes on the host."""
        return self.populated - self.resident

    @property
    def gap(self) -> int:
        """Bytes that are not on the GPU, or do not exist yet."""
        return self.allocated - self.resident

    @property
    def unborn(self) -> int:
        """Bytes that do not exist yet."""
        return self.allocated - self.populated

    @property
    def appearing(self) -> int:
        """Bytes that do not exist yet, and are being used for the first time."""
        return max(0, self.launched - self.populated)


class Board:
    """The memory that each program has on the GPU."""

    def __init__(self, usable: int, context: int) -> None:
        self._usable = usable
        self._context = context
        self.holdings: dict[int, Holding] = {}
        self._arrivals: deque[list[int]] = deque()
        self.resident = 0
        # All bytes that had to leave because memory of another program came.
        self.pushed_out = 0

    @property
    def capacity(self) -> int:
        """Bytes that allocations can fill, besides the contexts."""
        return self._usable - self._context * len(self.holdings)

    @property
    def room(self) -> int:
        """Bytes that are free."""
        return self.capacity - self.resident

    def join(self, key: int) -> Holding:
        """Make a context, which needs its room at once."""
        holding = self.holdings[key] = Holding()
        self._push_out()
        return holding

    def part(self, key: int) -> None:
        """A program has ended."""
        self._drop(key, self.holdings[key].resident)
        del self.holdings[key]

    def resize(self, key: int, allocated: int) -> None:
        """A program has allocated or freed. Memory on the host is freed first, resident last."""
        holding = self.holdings[key]
        holding.allocated = holding.wanted = allocated
        freed = max(0, holding.populated - allocated)
        holding.populated -= freed
        holding.launched = min(holding.launched, allocated)
        holding.kept = max(0, holding.kept - freed)
        self._drop(key, holding.resident - holding.populated)

    def make(self, key: int, size: int) -> None:
        """Create bytes of a program on the GPU. If it is full, others have to leave."""
        holding = self.holdings[key]
        size = min(size, holding.unborn)
        holding.populated += size
        self._arrive(key, size)

    def bring(self, key: int, size: int) -> int:
        """Note that bytes of a program have come from the host. Returns their number."""
        size = min(size, self.holdings[key].missing)
        self._arrive(key, size)
        return size

    def _arrive(self, key: int, size: int) -> None:
        self.holdings[key].resident += size
        self.resident += size
        if self._arrivals and self._arrivals[-1][0] == key:
            self._arrivals[-1][1] += size
        elif size:
            self._arrivals.append([key, size])
        self._push_out()

    def touch(self, key: int) -> None:
        """Note that the driver has served all of a program's memory: it is the youngest now."""
        own = sum(arrival[1] for arrival in self._arrivals if arrival[0] == key)
        self._arrivals = deque(arrival for arrival in self._arrivals if arrival[0] != key)
        if own:
            self._arrivals.append([key, own])

    def leave(self, key: int, size: int) -> int:
        """Move bytes of a program to the host, the youngest first. Returns their number."""
        holding = self.holdings[key]
        size = self._drop(key, size)
        holding.kept = max(holding.kept, holding.missing)
        return size

    def _drop(self, key: int, size: int) -> int:
        holding = self.holdings[key]
        size = max(0, min(size, holding.resident))
        if size:
            self._forget(key, size)
            self._shorten(holding, size)
        return size

    def _shorten(self, holding: Holding, size: int) -> None:
        whole = not holding.gap
        holding.resident -= size
        holding.leaving = min(holding.leaving, holding.resident)
        holding.ahead = holding.resident if whole else min(holding.ahead, holding.resident)
        self.resident -= size

    def _forget(self, key: int, size: int) -> None:
        for arrival in reversed(self._arrivals):
            if arrival[0] == key:
                taken = min(size, arrival[1])
                arrival[1] -= taken
                size -= taken
                if not size:
                    break
        self._arrivals = deque(arrival for arrival in self._arrivals if arrival[1])

    def _push_out(self) -> None:
        while self.room < 0 and self._arrivals:
            oldest = self._arrivals[0]
            taken = min(oldest[1], -self.room)
            oldest[1] -= taken
            if not oldest[1]:
                self._arrivals.popleft()
            holding = self.holdings[oldest[0]]
            self._shorten(holding, taken)
            holding.kept = min(holding.populated, holding.kept + taken)
            self.pushed_out += taken
