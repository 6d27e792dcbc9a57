"""Bulk moves of one program's memory between GPU and host, as the interposer makes them.

Memory that leaves and memory that comes in share the bus. Some of the incoming memory may have no
room yet: the core says how much, and others have to leave to make it. The gate decides what moves,
and when.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nvshare.lab.sim.board import Holding
from nvshare.lab.sim.gpu import BLOCK
from nvshare.lab.sim.pool import Lane
from nvshare.lab.sim.record import Kind

if TYPE_CHECKING:
    from nvshare.lab.sim.site import Site

# The interposer reports a move more than sixty times (native/interposer/moves/mover.c). Here that
# would be most of the work of a simulation. The first step is this part of the order, and steps
# double up to that part, which makes ten of them. Memory that has left is also reported when the
# turn of any program ends.
LEAST_STEP = 32
MOST_STEP = 8


@dataclass(slots=True)
class Progress:
    """Bytes that have moved, and the seconds that this took."""

    out_bytes: int = 0
    out_seconds: float = 0.0
    in_bytes: int = 0
    in_seconds: float = 0.0


class Mover:
    """Moves the memory of one program, order by order.

    Calls when an order has been carried out, and several times while memory leaves.
    """

    def __init__(
        self, site: "Site", key: int, done: Callable[[], None], goes_on: Callable[[], None]
    ) -> None:
        self._site = site
        self._key = key
        self._done = done
        self._goes_on = goes_on
        # Of the memory to leave: bytes that have not, and bytes that have since the order; bytes on
        # the bus, and since when.
        self._leaving = 0
        self._has_left = 0
        self._sent = 0
        self._sent_since = 0.0
        # Of the memory to come: the most; all of it, and the part that has not crossed the bus; the
        # bytes on the bus, since when, and for how long the bus was used before.
        self._is_filling = False
        self._ordered: int | None = None
        self._filling = 0
        self._coming = 0
        self._fetched = 0
        self._fetched_since = 0.0
        self._fetched_seconds = 0.0
        # The part of the memory to come that has no room yet, as the core says; and the bytes that
        # may come before the core says that they have room. When it reports a step, the next one is
        # on its way, at most twice as large; and memory comes no faster than other memory leaves.
        self._missing = 0
        self._ahead = 0
        self._record = site.records[key]
        self._progress = Progress()

    @property
    def _holding(self) -> Holding:
        return self._site.gpu.board.holdings[self._key]

    @property
    def there(self) -> int:
        """Bytes on the GPU that could leave it, besides those that are leaving."""
        return self._holding.resident - self._holding.leaving

    @property
    def away(self) -> int:
        """Bytes on the host that could come."""
        return self._holding.missing

    @property
    def left(self) -> int:
        """Bytes that were ordered out and have not left."""
        return self._holding.leaving

    @property
    def _leaves(self) -> bool:
        return self._site.gpu.goes_on(Lane.OUT, self._key)

    def must_fill(self, missing: int) -> bool:
        """Whether memory has to move, or is moving, before the gate may open.

        Memory that was never used comes when it is used; but not while others have to make room.
        """
        own = self._holding
        return self._leaves or own.missing >= BLOCK or (missing > 0 and own.unborn >= BLOCK)

    def take(self) -> Progress:
        """Return the progress since the last call."""
        progress, self._progress = self._progress, Progress()
        return progress

    def leave(self, size: int) -> None:
        """Move bytes to the host. If a move is under way, it becomes longer."""
        size = min(size, self.there)
        if size <= 0:
            if not self._leaves:
                self._done()
            return
        self._leaving += size
        self._holding.leaving += size
        if not self._leaves:
            self._has_left = 0
            self._site.gpu.moves += 1
            self._record.begin(Kind.OUT, self._site.now)
            self._send()

    def _send(self) -> None:
        order = self._has_left + self._leaving
        step = max(order // LEAST_STEP, min(self._has_left, order // MOST_STEP), BLOCK)
        self._sent = min(step, self._leaving)
        self._sent_since = self._site.now
        self._site.gpu.transfer(Lane.OUT, self._key, self._sent, self._left)

    def _left(self) -> None:
        self._count_out(self._sent)
        if self._leaving:
            self._send()
            self._goes_on()
        else:
            self._stop_leaving()
            self._done()
        self._site.room_changed()

    def look(self) -> None:
        """Report the memory that has left by now, if any is on its way."""
        if self._leaves:
            left = round(self._site.gpu.left(Lane.OUT, self._key))
            self._count_out(self._sent - left)
            self._goes_on()

    def _count_out(self, size: int) -> None:
        gpu, now, holding = self._site.gpu, self._site.now, self._holding
        gone = gpu.board.leave(self._key, size)
        self._sent -= size
        self._leaving -= size
        self._has_left += size
        holding.leaving = min(self._leaving, holding.resident)
        gpu.bulk_out += gone
        self._record.moved_out += gone
        self._progress.out_bytes += gone
        self._progress.out_seconds += now - self._sent_since
        self._sent_since = now

    def _stop_leaving(self) -> None:
        self._leaving = self._holding.leaving = 0
        self._site.gpu.moves -= 1
        self._record.end(Kind.OUT, self._site.now)

    def rest(self) -> None:
        """Stop, and keep the memory that has moved by now."""
        gpu = self._site.gpu
        if self._leaves:
            self._count_out(self._sent - round(gpu.cancel(Lane.OUT, self._key)))
            self._stop_leaving()
            self._site.room_changed()
        if self._is_filling:
            self._site.stop_waiting_for_room(self)
            if self._fetches:
                self._count_fetched(round(gpu.cancel(Lane.IN, self._key)))
            self._put(max(0, min(self._filling - self._coming, gpu.board.room)))

    def fill(self, size: int) -> None:
        """Bring in memory from the host, at most so much (0: all), as far as there is room."""
        self.rest()
        self._site.gpu.board.touch(self._key)
        self._is_filling = True
        self._ordered = size or None
        self._filling = min(self._holding.missing, size or self._holding.missing)
        self._coming = self._filling
        self._ahead = 0
        if self._filling:
            self._record.begin(Kind.IN, self._site.now)
        self._go_on()

    def set_missing(self, missing: int) -> None:
        """Note how much of the memory to come, now or with a later order, has no room yet."""
        self._ahead = max(0, 2 * (self._missing - missing))
        self._missing = missing
        if not self._is_filling:
            return
        if self._fetches:
            more = self._may_come - self._fetched
            if more > 0:
                self._fetched += more
                self._site.gpu.extend(Lane.IN, self._key, more)
        else:
            self._site.after(self._site.latency, self._go_on)

    @property
    def _fetches(self) -> bool:
        return self._site.gpu.goes_on(Lane.IN, self._key)

    @property
    def _without_room(self) -> int:
        """The part of the fill that has no room yet. Memory that was never used comes last."""
        return max(0, self._missing - (self._holding.unborn if self._ordered is None else 0))

    @property
    def _may_come(self) -> int:
        """The part of the rest of the fill that may come now."""
        return self._coming - min(self._coming, max(0, self._without_room - self._ahead))

    def _go_on(self) -> None:
        """Bring in the rest, or wait for room; or finish, if all has come."""
        if not self._is_filling or self._fetches:
            return
        if self._may_come:
            self._fetch(self._may_come)
        elif not self._coming and not self._without_room and not self._waits_for_the_rest:
            self.try_again()

    @property
    def _waits_for_the_rest(self) -> bool:
        return self._missing > 0 and self._holding.unborn >= BLOCK

    def _fetch(self, size: int) -> None:
        self._fetched, self._fetched_since = size, self._site.now
        self._site.gpu.moves += 1
        self._site.gpu.transfer(Lane.IN, self._key, size, self._over_the_bus)

    def _over_the_bus(self) -> None:
        self._count_fetched(0)
        self._go_on()

    def _count_fetched(self, left: int) -> None:
        self._site.gpu.moves -= 1
        self._coming -= self._fetched - left
        self._fetched_seconds += self._site.now - self._fetched_since

    def try_again(self) -> None:
        """All has crossed the bus, and room may have been made for it.

        Displaced memory leaves without a report. If no memory is on its way out, the driver has to
        make room.
        """
        if not self._is_filling:
            return
        if self._filling > self._site.gpu.board.room and self._site.somebody_leaves:
            self._site.wait_for_room(self)
            return
        self._put(self._filling)
        self._done()

    def _put(self, size: int) -> None:
        gpu, now = self._site.gpu, self._site.now
        size = gpu.board.bring(self._key, size)
        gpu.moved_in += size
        self._record.moved_in += size
        self._record.end(Kind.IN, now)
        self._progress.in_bytes += size
        self._progress.in_seconds += self._fetched_seconds
        self._is_filling, self._filling, self._coming, self._fetched_seconds = False, 0, 0, 0.0
