"""All that there is at one moment: processes, the daemon, and the messages between them.

A few processes share one GPU. Each has a connection to the daemon, on which messages wait in order,
both ways. Nothing here changes: a step (following.py) makes another world.
"""

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from nvshare.core.effects import Effect
from nvshare.core.events import ClientEvent
from tests.property.program import HandoverOrder, Standby

from .daemon import Daemon
from .messages import Turns, client_in, turns_in
from .process import Do, Process, message_number


class Kind(Enum):
    """The kinds of steps."""

    DO = "do"
    START = "starts"
    DROP = "loses what it has not read"
    DELIVER = "the daemon reads"
    DELIVER_LAST = "the daemon reads, of a connection that is closed,"
    TICK = "a timer fires"
    RESTART = "a new daemon starts"
    LATE = "late"
    GO_ON = "goes on"
    KILL = "is killed"
    BREAK = "loses its connection"
    KILL_DAEMON = "the daemon is killed"


class Late(Enum):
    """How a process takes longer than timers do."""

    READS = "does not read for a while"
    SENDS = "has sent what does not arrive for a while"
    STOPS = "does nothing for a while"


FAULTS = (Kind.KILL, Kind.BREAK, Kind.KILL_DAEMON)


# A program may do this, or never.
FREE = (Do.WORK, Do.REST, Do.LAUNCH)


class Step(NamedTuple):
    """One step: at which place, if it has one, and the action there. Of a timer: which device."""

    kind: Kind
    place: int = -1
    do: Do | None = None
    late: Late | None = None


@dataclass(frozen=True, eq=False)
class Place:
    """Where a process is, or will be again, and its end of a connection.

    ``id`` is its client's, 0 without a connection. ``deaf``: its messages are no longer read.
    """

    size: int
    process: Process | None = None
    id: int = 0
    inbox: tuple[Effect, ...] = ()
    outbox: tuple[ClientEvent, ...] = ()
    deaf: bool = False
    late: Late | None = None
    # This daemon's knowledge of the process: it was a client before, and has said that it resumes.
    has_left: bool = False
    has_resumed: bool = False
    # The device that it is on, and the gang that it is in, if any; and whether it has launched its
    # part of a collective that others of the gang have not launched: its work in flight waits.
    gpu: int = 0
    group: str = ""
    spins: bool = False

    def but(self, **changes: Any) -> "Place":
        """Return the same place with something else in it."""
        return replace(self, **changes)

    def empty(self, process: Process | None = None) -> "Place":
        """Return the same place with nothing of the present process, and perhaps a new one."""
        return Place(self.size, process, gpu=self.gpu, group=self.group)

    @property
    def may_launch(self) -> bool:
        """Whether its next call passes the gate, and does not wait for an earlier one."""
        process = self.process
        return bool(process and process.is_open and process.body.busy and not self.spins)

    @cached_property
    def turns(self) -> Turns:
        """The turns that are known here or on their way, each with its owner."""
        own = tuple(turn for one in (*self.inbox, *self.outbox) for turn in turns_in(one))
        return (*own, *self.process.turns) if self.process else own

    @cached_property
    def descriptors(self) -> frozenset[int]:
        """The descriptors that are known here or on their way."""
        numbers = {one.descriptor for one in self.inbox if isinstance(one, HandoverOrder)}
        if self.process and self.process.passes is not None:
            numbers.add(self.process.passes)
        return self.awaited | numbers

    @cached_property
    def awaited(self) -> frozenset[int]:
        """The descriptors that a process here watches, or will."""
        numbers = {one.descriptor for one in self.inbox if isinstance(one, Standby)}
        if self.process and self.process.standby is not None:
            numbers.add(self.process.standby)
        return frozenset(numbers)

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """All values here except names, in numbers."""
        return (
            self.size,
            self.process.number if self.process else -1,
            tuple(map(message_number, self.inbox)),
            tuple(map(message_number, self.outbox)),
            (bool(self.id), self.deaf, self.has_left, self.has_resumed),
            (self.gpu, self.group, self.spins),
            0 if self.late is None else 1 + _LATENESS.index(self.late),
        )

    @cached_property
    def names(self) -> tuple[int, ...]:
        """The clients that are named here, 0 for none."""
        named = [client_in(one) for one in (*self.inbox, *self.outbox)]
        return (*named, self.process.next_client) if self.process else tuple(named)


_LATENESS = tuple(Late)


class World(NamedTuple):
    """All that there is at one moment."""

    places: tuple[Place, ...]
    daemon: Daemon | None
    # Messages of ended processes that the daemon still has to read, by client.
    ghosts: tuple[tuple[int, tuple[ClientEvent, ...]], ...] = ()
    written: frozenset[int] = frozenset()
    faults: int = 0
    # How often a process or message may still be late.
    lates: int = 0
    # There is more on the GPU than it has, by a fault, or because an answer came too late.
    is_spilled: bool = False

    def put(self, index: int, place: Place) -> "World":
        """Return the same world with something else at a place."""
        places = list(self.places)
        places[index] = place
        return self._replace(places=tuple(places))

    def joiners(self) -> frozenset[int]:
        """Return the places whose next call others wait for on the GPU, and whose gates are open.

        They launch it some time.
        """
        groups = {one.group for one in self.places if one.spins}
        ranks = [rank for group in groups for rank in self.ranks(group)]
        return frozenset(rank for rank in ranks if self.places[rank].may_launch)

    def ranks(self, group: str) -> list[int]:
        """Return the places of a gang where processes are."""
        places = enumerate(self.places)
        return [index for index, one in places if group and one.group == group and one.process]


def is_progress(step: Step) -> bool:
    """Whether a step is progress: not a program's choice, a fault or the passing of time."""
    idle = (*FAULTS, Kind.START, Kind.TICK, Kind.LATE, Kind.GO_ON)
    return step.do not in FREE and step.kind not in idle
