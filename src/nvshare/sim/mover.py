"""Bulk moves of one program's memory between GPU and host, as the interposer makes them.

What leaves and what comes in share the bus. What comes in has arrived when there is room for it,
which may have to be made by somebody else's departure. What is to move, and when, is for the gate
to say.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nvshare.sim.board import Holding
from nvshare.sim.pool import Lane
from nvshare.sim.record import Kind

if TYPE_CHECKING:
    from nvshare.sim.site import Site


@dataclass(slots=True)
class Progress:
    """Bytes that have moved, and the seconds that this took."""

    out_bytes: int = 0
    out_seconds: float = 0.0
    in_bytes: int = 0
    in_seconds: float = 0.0


class Mover:
    """Moves the memory of one program: one order at a time. Calls when it has been carried out."""

    def __init__(self, site: "Site", key: int, done: Callable[[], None]) -> None:
        self._site = site
        self._key = key
        self._done = done
        self._leaving = 0
        self._left_since = 0.0
        self._is_filling = False
        self._filling = 0
        # What has to find room before a fill is complete, at most.
        self._needed: int | None = None
        self._filled_since = 0.0
        self._record = site.records[key]
        self._progress = Progress()

    @property
    def _holding(self) -> Holding:
        return self._site.gpu.board.holdings[self._key]

    @property
    def there(self) -> int:
        """Bytes on the GPU that could leave it, beside those that do."""
        return self._holding.resident - self._holding.leaving

    @property
    def is_needed(self) -> bool:
        """Whether memory has to move, or is moving, before the gate may open."""
        return self._site.gpu.goes_on(Lane.OUT, self._key) or self._holding.gap > 0

    def take(self) -> Progress:
        """Return what has been moved and not asked for yet."""
        progress, self._progress = self._progress, Progress()
        return progress

    def leave(self, size: int) -> None:
        """Move bytes to the host. If that goes on already, there will be more of it."""
        gpu, holding = self._site.gpu, self._holding
        size = min(size, self.there)
        if size <= 0:
            if not gpu.goes_on(Lane.OUT, self._key):
                self._done()
            return
        holding.leaving += size
        self._leaving += size
        if gpu.goes_on(Lane.OUT, self._key):
            gpu.extend(Lane.OUT, self._key, size)
            return
        self._left_since = self._site.now
        gpu.moves += 1
        self._record.begin(Kind.OUT, self._site.now)
        gpu.transfer(Lane.OUT, self._key, size, self._left)

    def rest(self) -> None:
        """Leave it at what has moved by now."""
        gpu = self._site.gpu
        if gpu.goes_on(Lane.OUT, self._key):
            self._leaving -= round(gpu.cancel(Lane.OUT, self._key))
            self._count_out()
            self._site.room_changed()
        if self._is_filling:
            self._site.stop_waiting_for_room(self)
            if gpu.goes_on(Lane.IN, self._key):
                self._filling -= round(gpu.cancel(Lane.IN, self._key))
                gpu.moves -= 1
            self._put(max(0, min(self._filling, gpu.board.room)))

    def _left(self) -> None:
        self._count_out()
        self._done()
        self._site.room_changed()

    def _count_out(self) -> None:
        gpu, now = self._site.gpu, self._site.now
        size, self._leaving = self._leaving, 0
        self._holding.leaving = 0
        gone = gpu.board.leave(self._key, size)
        gpu.moves -= 1
        gpu.bulk_out += gone
        self._record.moved_out += gone
        self._record.end(Kind.OUT, now)
        self._progress.out_bytes += gone
        self._progress.out_seconds += now - self._left_since

    def fill(self, size: int) -> None:
        """Bring in what is on the host, at most so much (0: all), when there is room for it."""
        self.rest()
        gpu = self._site.gpu
        self._filled_since = self._site.now
        gpu.board.touch(self._key)
        self._is_filling = True
        self._needed = size or None
        self._filling = min(self._holding.missing, size or self._holding.missing)
        if not self._filling:
            self._arrived()
            return
        gpu.moves += 1
        self._record.begin(Kind.IN, self._site.now)
        gpu.transfer(Lane.IN, self._key, self._filling, self._over_the_bus)

    def _over_the_bus(self) -> None:
        self._site.gpu.moves -= 1
        self._arrived()

    def try_again(self) -> None:
        """Room was made."""
        self._arrived()

    def _arrived(self) -> None:
        # Whoever is on the way out makes room. If nobody is, the driver will have to.
        gap = self._holding.gap
        needed = gap if self._needed is None else min(gap, self._needed)
        if needed > self._site.gpu.board.room and self._site.somebody_leaves:
            self._site.wait_for_room(self)
            return
        self._put(self._filling)
        self._done()

    def _put(self, size: int) -> None:
        gpu, now = self._site.gpu, self._site.now
        size = gpu.board.bring(self._key, size)
        # What was never used is asked for like the rest, and comes into being without a move.
        if self._holding.gap <= gpu.board.room:
            gpu.board.make(self._key, self._holding.unborn)
        gpu.moved_in += size
        self._record.moved_in += size
        self._record.end(Kind.IN, now)
        if size:
            # A wait in which nothing came measures nothing.
            self._progress.in_bytes += size
            self._progress.in_seconds += now - self._filled_since
        self._is_filling, self._filling = False, 0
