"""Reports of a program's gate to the core: a turn is wanted or released, memory has moved.

The machine (gate.py) decides when to report; the mover knows the memory that is on its way.
"""

from typing import TYPE_CHECKING

from nvshare.core.events import Held, Moved, Reason, Released, Wanted
from nvshare.lab.sim.mover import Mover
from nvshare.lab.sim.record import Kind
from nvshare.machine import Act, Action, Machine
from nvshare.machine import Reason as Why

if TYPE_CHECKING:
    from nvshare.lab.sim.site import Site

_REASONS = {Why.IDLE: Reason.IDLE, Why.TOLD: Reason.TOLD, Why.USED_UP: Reason.USED_UP}


class GateReports:
    """The reports of one client."""

    def __init__(self, site: "Site", key: int, machine: Machine, mover: Mover) -> None:
        self._site = site
        self._key = key
        self._record = site.records[key]
        self._machine = machine
        self._mover = mover
        # The program that the turn about to be released was handed over to, and its new turn.
        self.handed: tuple[int, int] | None = None

    def tell(self, action: Action) -> None:
        """Report to the core as an action of the machine says."""
        site = self._site
        match action.act:
            case Act.WANT:
                self._record.begin(Kind.WAIT, site.now)
                site.tell_work(self._key)
                site.send(Wanted(now=site.now, client=self._key, turn=action.turn))
            case Act.RELEASED:
                self._released(action)
            case Act.ANSWER:
                self._tell_moved(action.turn)
                # Another program may have waited for that.
                site.room_changed()
            case Act.TELL_OUT:
                self._tell_all(is_due_out=True)
            case Act.TELL_IN:
                self._tell_all(is_due_in=True)

    def held(self, action: Action) -> None:
        """Report that nothing is in flight, and the turn goes on."""
        waits = bool(action.value)
        self._site.send(Held(now=self._site.now, client=self._key, turn=action.turn, waits=waits))

    def _released(self, action: Action) -> None:
        site = self._site
        wants = self._machine.is_wanted
        if wants:
            self._record.begin(Kind.WAIT, site.now)
        self._tell_all()
        site.tell_work(self._key)
        (next_client, turn), self.handed = self.handed or (None, 0), None
        site.send(
            Released(
                now=site.now,
                client=self._key,
                turn=action.turn,
                reason=_REASONS[Why(action.value)],
                memory=site.memory_of(self._key),
                wants=wants,
                handed_to=next_client,
                handed_turn=turn,
                left=self._mover.left,
            )
        )
        if not action.bytes:
            # Another program may have waited for the room of that memory.
            site.room_changed()

    def _tell_all(self, *, is_due_out: bool = False, is_due_in: bool = False) -> None:
        made = self._mover.take()
        if made.out_bytes or is_due_out:
            turn = self._machine.out_turn
            self._tell_moved(turn, out_bytes=made.out_bytes, seconds=made.out_seconds)
        if made.in_bytes or is_due_in:
            turn = self._machine.turn
            self._tell_moved(turn, in_bytes=made.in_bytes, seconds=made.in_seconds)

    def _tell_moved(
        self, turn: int, *, out_bytes: int = 0, in_bytes: int = 0, seconds: float = 0.0
    ) -> None:
        site = self._site
        site.send(
            Moved(
                now=site.now,
                client=self._key,
                turn=turn,
                memory=site.memory_of(self._key),
                out_bytes=out_bytes,
                in_bytes=in_bytes,
                seconds=seconds,
                left=self._mover.left,
            )
        )
