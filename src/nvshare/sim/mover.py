"""Bulk moves of one program's memory between GPU and host, as the interposer makes them.

What leaves and what comes in share the bus. What comes in has arrived when there is room for it,
which may have to be made by somebody else's departure.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from nvshare.sim.board import Holding
from nvshare.sim.pool import Lane
from nvshare.sim.record import Kind

if TYPE_CHECKING:
    from nvshare.sim.site import Site

Moved: TypeAlias = Callable[[int, float], None]


class Mover:
    """Moves the memory of one program. ``Moved`` is told the bytes and the seconds."""

    def __init__(self, site: "Site", key: int) -> None:
        self._site = site
        self._key = key
        self._leaving = 0
        self._left_since = 0.0
        self._then_left: Moved = _nothing
        self._filling = 0
        self._filled_since = 0.0
        self._then_filled: Moved = _nothing
        self._record = site.records[key]

    @property
    def _holding(self) -> Holding:
        return self._site.gpu.board.holdings[self._key]

    def leave(self, size: int, then: Moved) -> None:
        """Move bytes to the host. If that goes on already, there will be more of it."""
        gpu, holding = self._site.gpu, self._holding
        size = min(size, holding.resident - holding.leaving)
        if size <= 0:
            then(0, 0.0)
            # Somebody may have waited for that.
            self._site.room_changed()
            return
        holding.leaving += size
        self._leaving += size
        self._then_left = then
        if gpu.goes_on(Lane.OUT, self._key):
            gpu.extend(Lane.OUT, self._key, size)
            return
        self._left_since = self._site.now
        gpu.moves += 1
        self._record.begin(Kind.OUT, self._site.now)
        gpu.transfer(Lane.OUT, self._key, size, self._left)

    def stop_leaving(self) -> None:
        """Leave it at what has gone by now."""
        if self._site.gpu.goes_on(Lane.OUT, self._key):
            self._leaving -= round(self._site.gpu.cancel(Lane.OUT, self._key))
            self._left()

    def _left(self) -> None:
        gpu, now = self._site.gpu, self._site.now
        size, self._leaving = self._leaving, 0
        self._holding.leaving = 0
        gone = gpu.board.leave(self._key, size)
        gpu.moves -= 1
        gpu.bulk_out += gone
        self._record.moved_out += gone
        self._record.end(Kind.OUT, now)
        self._then_left(gone, now - self._left_since)
        self._site.room_changed()

    def fill(self, then: Moved) -> None:
        """Bring in all that is on the host, and wait until there is room for all that will be."""
        gpu = self._site.gpu
        self._filled_since = self._site.now
        self._filling = self._holding.missing
        self._then_filled = then
        if not self._filling:
            self._arrived()
            return
        gpu.moves += 1
        self._record.begin(Kind.IN, self._site.now)
        gpu.transfer(Lane.IN, self._key, self._filling, self._over_the_bus)

    def stop_filling(self) -> tuple[int, float]:
        """Leave it at what has come by now; return the bytes and the seconds."""
        self._site.stop_waiting_for_room(self)
        gpu = self._site.gpu
        if gpu.goes_on(Lane.IN, self._key):
            self._filling -= round(gpu.cancel(Lane.IN, self._key))
            gpu.moves -= 1
        size = max(0, min(self._filling, gpu.board.room))
        return self._put(size)

    def _over_the_bus(self) -> None:
        self._site.gpu.moves -= 1
        self._arrived()

    def try_again(self) -> None:
        """Room was made."""
        self._arrived()

    def _arrived(self) -> None:
        # Whoever is on the way out makes room. If nobody is, the driver will have to.
        if self._holding.gap > self._site.gpu.board.room and self._site.somebody_leaves:
            self._site.wait_for_room(self)
            return
        size, seconds = self._put(self._filling)
        self._then_filled(size, seconds)

    def _put(self, size: int) -> tuple[int, float]:
        gpu, now = self._site.gpu, self._site.now
        size = gpu.board.bring(self._key, size)
        # What was never used is asked for like the rest, and comes into being without a move.
        if self._holding.gap <= gpu.board.room:
            gpu.board.make(self._key, self._holding.unborn)
        gpu.moved_in += size
        self._record.moved_in += size
        self._record.end(Kind.IN, now)
        self._filling = 0
        return size, now - self._filled_since


def _nothing(_size: int, _seconds: float) -> None:
    pass
