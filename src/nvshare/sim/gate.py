"""The gate of one program: turns taken, watched and given up, as native/interposer/turn.c does.

It obeys the core's orders and tells the core what has happened. What the program does when the gate
is open is the program's business.
"""

from typing import TYPE_CHECKING

from nvshare.core.effects import (
    CancelHandover,
    Effect,
    Evict,
    Grant,
    Handover,
    Keep,
    Revoke,
    Urgency,
)
from nvshare.core.events import ClientLeft, Moved, Reason, Released, Wanted
from nvshare.sim.mover import Mover
from nvshare.sim.record import Kind

if TYPE_CHECKING:
    from nvshare.sim.program import SimulatedProgram
    from nvshare.sim.site import Site


class Gate:
    """What one client knows of its turn."""

    def __init__(self, site: "Site", key: int, program: "SimulatedProgram") -> None:
        self._site = site
        self._key = key
        self._program = program
        self._mover = Mover(site, key)
        self._record = site.records[key]
        self._seen = 0
        # The turn is held, and memory is where it has to be.
        self._open = False
        self._ready = False
        self.draining = False
        self._wanting = False
        self._asked: Revoke | None = None
        self._evict_bytes = 0
        self._handover: Handover | None = None
        self._quiet_since = 0.0

    @property
    def holds(self) -> bool:
        """Whether the program may have something in flight."""
        return self._open or self.draining

    @property
    def is_about_to_leave(self) -> bool:
        """Whether memory is to go out when the turn has ended, which it is about to."""
        return self.draining and self._evict_bytes > 0

    def stop_to_fill(self) -> None:
        """The program has grown: nothing is launched until there is room for all it has."""
        if self._open and self._ready:
            self._ready = False
            self._record.end(Kind.RUN, self._site.now)
            self._mover.fill(self._filled)

    def may_pass(self) -> bool:
        """Whether work can start now. If not, the program is called when it can."""
        if not self._open and not self._wanting:
            self._wanting = True
            self._record.begin(Kind.WAIT, self._site.now)
            self._site.send(Wanted(now=self._site.now, client=self._key, turn=self._seen))
        return self._open and self._ready

    def obey(self, order: Effect) -> None:
        """Carry out an order. One that is about another turn is void."""
        match order:
            case Grant():
                self.let_in(order.turn)
            case Evict():
                size = 0 if self.holds else order.evict_bytes
                self._mover.leave(size, self._left)
            case Revoke() if self._open and order.turn == self._seen:
                self._revoke(order)
            case Keep() if self._open and order.turn == self._seen:
                self._asked, self._handover, self._evict_bytes = None, None, 0
                self._program.is_wanted(False)
            case Handover() if self.holds and order.from_turn == self._seen:
                self._handover = order
            case CancelHandover() if order.from_turn == self._seen:
                self._handover = None

    def let_in(self, turn: int) -> None:
        """Take a turn, by a grant or because the predecessor says so."""
        if turn <= self._seen:
            return
        self._seen, self._open, self._ready, self._wanting = turn, True, False, False
        self._asked, self._handover, self._evict_bytes = None, None, 0
        self._program.is_wanted(False)
        self._record.turns += 1
        self._record.end(Kind.WAIT, self._site.now)
        self._site.open_bytes_changed(self._site.holding(self._key).allocated)
        self._site.after(self._site.latency, lambda: self._fill(turn))

    def _fill(self, turn: int) -> None:
        if self._open and self._seen == turn:
            self._mover.stop_leaving()
            self._mover.fill(self._filled)

    def _filled(self, size: int, seconds: float) -> None:
        self._ready = True
        self._record.begin(Kind.RUN, self._site.now)
        if size:
            self._tell_moved(self._seen, 0, size, seconds)
        if self._program.is_used_up:
            self.used_up()
        elif self._program.has_work:
            self._program.start()
        else:
            self.rest()

    def used_up(self) -> None:
        """The program has nothing in flight, and has to wait for time of its share."""
        if self.draining or (self._asked and self._ready):
            self._release(Reason.USED_UP)

    def rest(self) -> None:
        """The program has nothing in flight and nothing to submit, from now on."""
        if self._asked and self._ready:
            asked, self._quiet_since = self._asked, self._site.now
            self._site.after(asked.idle_seconds, lambda: self._release_if_idle(asked))

    def _release_if_idle(self, asked: Revoke) -> None:
        quiet = self._site.now - self._quiet_since >= asked.idle_seconds - 1e-9
        if self._asked is asked and self._open and quiet and not self._program.has_work:
            self._release(Reason.IDLE)

    def _revoke(self, order: Revoke) -> None:
        self._evict_bytes = order.evict_bytes
        self._program.is_wanted(True)
        if order.urgency is Urgency.WHEN_IDLE:
            self._asked = order
            if self._program.is_used_up:
                self.used_up()
            elif not self._program.has_work:
                self.rest()
            return
        self._open, self.draining, self._asked = False, True, None
        if not self._ready:
            size, seconds = self._mover.stop_filling()
            self._release(Reason.ASKED, size, seconds)
        elif self._program.is_used_up:
            self.used_up()
        else:
            self._program.drain()

    def drained(self) -> None:
        """Nothing is in flight any more."""
        self._release(Reason.ASKED)

    def _release(self, reason: Reason, moved: int = 0, seconds: float = 0.0) -> None:
        site, heir = self._site, self._handover
        self._open = self._ready = self.draining = False
        is_used_up = self._program.is_used_up
        self._wanting = self._program.has_work and not is_used_up
        self._record.released += 1
        self._record.end(Kind.RUN, site.now)
        if self._wanting:
            self._record.begin(Kind.WAIT, site.now)
        site.open_bytes_changed(-site.holding(self._key).allocated)
        turn, evicted = self._seen, self._evict_bytes
        self._asked, self._handover, self._evict_bytes = None, None, 0
        if evicted:
            self._mover.leave(evicted, lambda size, took: self._tell_moved(turn, size, 0, took))
        if heir:
            site.wake(heir.to_client, heir.turn)
        site.send(
            Released(
                now=site.now,
                client=self._key,
                turn=turn,
                reason=Reason.USED_UP if is_used_up else reason,
                memory=site.memory_of(self._key),
                wants=self._wanting,
                moved_bytes=moved,
                seconds=seconds,
                handed_to=heir.to_client if heir else None,
                handed_turn=heir.turn if heir else 0,
            )
        )

    def close_for_good(self) -> None:
        """The program ends."""
        if self._open and not self._ready:
            self._mover.stop_filling()
        if self.holds:
            self._site.open_bytes_changed(-self._site.holding(self._key).allocated)
        self._open = self.draining = False
        self._mover.stop_leaving()
        self._site.send(ClientLeft(now=self._site.now, client=self._key))

    def _left(self, size: int, seconds: float) -> None:
        self._tell_moved(self._seen, size, 0, seconds)

    def _tell_moved(self, turn: int, out: int, into: int, seconds: float) -> None:
        site = self._site
        site.send(
            Moved(
                now=site.now,
                client=self._key,
                turn=turn,
                memory=site.memory_of(self._key),
                out_bytes=out,
                in_bytes=into,
                seconds=seconds,
            )
        )
