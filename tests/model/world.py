"""All that there is at one moment, what can happen next, and what follows from it.

A few processes share one GPU. Each has a connection to the daemon, on which messages wait in order,
both ways, for as long as the search likes. A fault is the end of a process, of a connection or of
the daemon.
"""

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from nvshare.core.effects import CancelHandover, Effect, Handover
from nvshare.core.events import ClientEvent, ClientJoined, ClientLeft, Event, Moved, Released
from nvshare.core.settings import Settings
from nvshare.machine import State as MachineState
from tests.property.program import PassTo, Standby

from .daemon import Daemon, fire, new_daemon
from .forget import NOW, SETTINGS, SETTLE_SECONDS
from .messages import Closed, Turns, Welcome, client_in, turns_in
from .process import Do, Process, act, message_number, new_process


class Kind(Enum):
    """What can happen."""

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
    """What of a process takes longer than timers do."""

    READS = "does not read for a while"
    SENDS = "has sent what does not arrive for a while"
    STOPS = "does nothing for a while"


FAULTS = (Kind.KILL, Kind.BREAK, Kind.KILL_DAEMON)


# A program may do so, or never.
FREE = (Do.WORK, Do.REST)


class Step(NamedTuple):
    """One thing that happens: to which place, if it is about one, and what it does there."""

    kind: Kind
    place: int = -1
    do: Do | None = None
    late: Late | None = None


@dataclass(frozen=True, eq=False)
class Place:
    """Where a process is, or will be again, and its end of a connection.

    ``id`` is its client's, 0 without a connection. ``deaf``: nobody reads what it sends any more.
    """

    size: int
    process: Process | None = None
    id: int = 0
    inbox: tuple[Effect, ...] = ()
    outbox: tuple[ClientEvent, ...] = ()
    deaf: bool = False
    late: Late | None = None
    # What this daemon knows of the process: it was a client before, and has said that it resumes.
    has_left: bool = False
    has_resumed: bool = False

    def but(self, **changes: Any) -> "Place":
        """Return the same place with something else in it."""
        return replace(self, **changes)

    @cached_property
    def turns(self) -> Turns:
        """The turns that are known here, or on their way, each with its owner."""
        own = tuple(turn for one in (*self.inbox, *self.outbox) for turn in turns_in(one))
        return (*own, *self.process.turns) if self.process else own

    @cached_property
    def descriptors(self) -> frozenset[int]:
        """The descriptors that are known here, or on their way."""
        return self.awaited | ({self.process.passes} if self.process else set()) - {None} | {
            one.descriptor for one in self.inbox if isinstance(one, PassTo)
        }

    @cached_property
    def awaited(self) -> frozenset[int]:
        """The descriptors that somebody here watches, or will."""
        numbers = {one.descriptor for one in self.inbox if isinstance(one, Standby)}
        if self.process and self.process.standby is not None:
            numbers.add(self.process.standby)
        return frozenset(numbers)

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """All that is here but names, in numbers."""
        return (
            self.size,
            self.process.number if self.process else -1,
            tuple(map(message_number, self.inbox)),
            tuple(map(message_number, self.outbox)),
            (bool(self.id), self.deaf, self.has_left, self.has_resumed),
            0 if self.late is None else 1 + _LATENESS.index(self.late),
        )

    @cached_property
    def names(self) -> tuple[int, ...]:
        """The clients that are spoken of here, 0 for nobody."""
        named = [client_in(one) for one in (*self.inbox, *self.outbox)]
        return (*named, self.process.heir) if self.process else tuple(named)


_LATENESS = tuple(Late)


class World(NamedTuple):
    """All that there is at one moment."""

    places: tuple[Place, ...]
    daemon: Daemon | None
    # Of connections whose process is gone, what the daemon has still to read; by client.
    ghosts: tuple[tuple[int, tuple[ClientEvent, ...]], ...] = ()
    written: frozenset[int] = frozenset()
    faults: int = 0
    # How often somebody may still be late.
    lates: int = 0
    # There is more on the GPU than it has, by a fault, or because somebody did not answer in time.
    is_spilled: bool = False


@dataclass(frozen=True)
class Case:
    """What is looked at: processes of these sizes on a GPU of this one, and so many faults."""

    sizes: tuple[int, ...]
    faults: int
    capacity: int = 2
    # So often a process, or what it sends or is sent, is late: time passes before it goes on, and
    # anything else may happen. Whatever is not late is there at once.
    lates: int = 0
    # Or messages come in every order, as long as no time passes meanwhile.
    any_order: bool = False
    # So many messages may wait for a process at the most.
    unread: int = 4
    is_explicit: bool = False
    # Programs always have something to run; otherwise they begin and end with that as they like.
    is_restless: bool = False
    settings: Settings = SETTINGS

    def begin(self) -> World:
        """Return the beginning: the daemon runs, and no process has connected yet."""
        places = tuple(Place(size, self._new(size)) for size in self.sizes)
        return World(places, new_daemon(self.capacity, self.settings, 0.0), faults=self.faults, lates=self.lates)

    def _new(self, size: int) -> Process:
        return new_process(size, is_explicit=self.is_explicit, is_busy=self.is_restless)

    def steps(self, world: World) -> list[Step]:
        """Return all that can happen."""
        if self.any_order:
            return self._in_any_order(world)
        faults = [one for index in range(len(world.places)) for one in self._faults(world, index)]
        if world.faults and world.daemon:
            faults.append(Step(Kind.KILL_DAEMON))
        return [*(_urgent(world) or self._calm(world)), *faults]

    def _calm(self, world: World) -> list[Step]:
        """Return what can happen while no message is on its way, but for those that are late."""
        steps: list[Step] = []
        for index, place in enumerate(world.places):
            steps += [one for one in self._own(world, index) if not _is_late(place, one)]
            if place.late:
                steps.append(Step(Kind.GO_ON, index))
            elif world.lates and any(is_progress(one) for one in self._own(world, index)):
                steps.append(Step(Kind.LATE, index, late=Late.STOPS))
        steps += _of_daemon(world)
        if world.daemon and world.daemon.alarm and not any(is_progress(one) for one in steps):
            steps.append(Step(Kind.TICK))
        return steps

    def _in_any_order(self, world: World) -> list[Step]:
        steps: list[Step] = []
        for index, place in enumerate(world.places):
            # What it does next can as well be done after the daemon has read: nobody sees it.
            steps += [] if place.outbox else self._own(world, index)
            steps += self._faults(world, index)
            if place.outbox and not place.deaf:
                steps.append(Step(Kind.DELIVER, index))
        steps += _of_daemon(world)
        alarm = world.daemon.alarm if world.daemon else None
        if alarm and not (alarm[1] and any(is_progress(one) for one in steps)):
            steps.append(Step(Kind.TICK))
        if world.faults and world.daemon:
            steps.append(Step(Kind.KILL_DAEMON))
        return steps

    def _own(self, world: World, index: int) -> list[Step]:
        """Return what can happen at one place, whatever the daemon does."""
        place = world.places[index]
        process = place.process
        if process is None:
            return [Step(Kind.START, index)]
        rests = (Do.REST,) if self.is_restless else ()
        steps = [Step(Kind.DO, index, do) for do in process.actions if do not in rests]
        if place.inbox:
            steps += _readings(place, index)
        if process.standby in world.written:
            steps.append(Step(Kind.DO, index, Do.NOTICE))
        if not place.id and world.daemon:
            steps.append(Step(Kind.DO, index, Do.CONNECT))
        if not place.id and not world.daemon and process.state is MachineState.NEW:
            steps.append(Step(Kind.DO, index, Do.GIVE_UP))
        return steps

    def _faults(self, world: World, index: int) -> list[Step]:
        if not world.faults:
            return []
        place = world.places[index]
        kinds = [Kind.KILL, Kind.BREAK] if place.id and not place.deaf else [Kind.KILL]
        return [Step(kind, index) for kind in kinds]

    def is_within(self, world: World) -> bool:
        """Whether nobody has more to read than is looked at."""
        return all(len(place.inbox) <= self.unread for place in world.places)

    def follow(self, world: World, step: Step) -> World:
        """Return what follows from a step. What must not be raises Violation."""
        after = self._follow(world, step)
        return after if after.faults else _without_past(after)

    def _follow(self, world: World, step: Step) -> World:
        match step.kind:
            case Kind.DO:
                assert step.do is not None
                return _do(world, step.place, step.do)
            case Kind.START:
                return self._start(world, step.place)
            case Kind.DROP:
                place = world.places[step.place].but(inbox=(Closed(),))
                return _do(_put(world, step.place, place), step.place, Do.READ)
            case Kind.LATE:
                place = world.places[step.place].but(late=step.late)
                return _put(world, step.place, place)._replace(lates=world.lates - 1)
            case Kind.GO_ON:
                return _put(world, step.place, world.places[step.place].but(late=None))
            case Kind.DELIVER | Kind.DELIVER_LAST | Kind.TICK:
                return _handle(world, step)
            case Kind.RESTART:
                daemon = new_daemon(self.capacity, self.settings, SETTLE_SECONDS)
                return world._replace(daemon=daemon)
            case Kind.KILL_DAEMON:
                return _kill_daemon(world._replace(faults=world.faults - 1))
            case Kind.KILL:
                return _kill(world._replace(faults=world.faults - 1), step.place)
            case Kind.BREAK:
                return _break(world._replace(faults=world.faults - 1), step.place)

    def _start(self, world: World, index: int) -> World:
        size = world.places[index].size
        return _put(world, index, Place(size, self._new(size)))


def _without_past(world: World) -> World:
    """Forget what only matters to who connects again, when nobody will."""
    if not any(place.id and (place.has_left or place.has_resumed) for place in world.places):
        return world
    places = (
        one.but(has_left=False, has_resumed=False) if _stays(one) else one
        for one in world.places
    )
    return world._replace(places=tuple(places))


def _stays(place: Place) -> bool:
    """Whether a process has been heard of by the daemon, on a connection that lasts."""
    joins = any(isinstance(one, ClientJoined) for one in place.outbox)
    return bool(place.id) and not place.deaf and not joins


def _urgent(world: World) -> list[Step]:
    """Return the message that is the next to arrive, if there is one; or it is late, or lost."""
    for index, place in enumerate(world.places):
        stops = place.late is Late.STOPS
        if place.process and place.process.standby in world.written and not stops:
            return [Step(Kind.DO, index, Do.NOTICE)]
    for index, place in enumerate(world.places):
        if place.outbox and not place.deaf and place.late is not Late.SENDS and world.daemon:
            return [Step(Kind.DELIVER, index), *_lateness(world, index, Late.SENDS)]
    if world.daemon and world.ghosts:
        return [Step(Kind.DELIVER_LAST, 0)]
    for index, place in enumerate(world.places):
        if place.inbox and place.late not in (Late.READS, Late.STOPS):
            return [*_readings(place, index), *_lateness(world, index, Late.READS)]
    for index, place in enumerate(world.places):
        if place.process and not place.id and world.daemon and place.late is None:
            return [Step(Kind.DO, index, Do.CONNECT), *_lateness(world, index, Late.STOPS)]
    return []


def _readings(place: Place, index: int) -> list[Step]:
    reads = [Step(Kind.DO, index, Do.READ)]
    is_lossy = len(place.inbox) > 1 and isinstance(place.inbox[-1], Closed)
    return [*reads, Step(Kind.DROP, index)] if is_lossy else reads


def _lateness(world: World, index: int, late: Late) -> list[Step]:
    can = world.lates and world.places[index].late is None
    return [Step(Kind.LATE, index, late=late)] if can else []


def _of_daemon(world: World) -> list[Step]:
    if world.daemon is None:
        return [Step(Kind.RESTART)]
    return [Step(Kind.DELIVER_LAST, index) for index in range(len(world.ghosts))]


def _is_late(place: Place, step: Step) -> bool:
    """Whether a step of a process has to wait until it goes on."""
    if place.late is Late.STOPS:
        return True
    reads = step.do is Do.READ or step.kind is Kind.DROP
    # What is sent while nothing arrives would have to wait as well.
    return place.late is Late.READS and reads


def is_progress(step: Step) -> bool:
    """Whether something is on its way: it is not a program, a fault or time that may go on."""
    idle = (*FAULTS, Kind.START, Kind.TICK, Kind.LATE, Kind.GO_ON)
    return step.do not in FREE and step.kind not in idle


def _put(world: World, index: int, place: Place) -> World:
    places = list(world.places)
    places[index] = place
    return world._replace(places=tuple(places))


def _do(world: World, index: int, do: Do) -> World:
    place = world.places[index]
    process = place.process
    assert process is not None
    order, inbox, client = None, place.inbox, place.id
    if do is Do.READ:
        order, *rest = place.inbox
        inbox = tuple(rest)
    outcome = act(process, do, order, is_written=process.standby in world.written)
    if do is Do.CONNECT:
        client = _free_id(world)
    outbox = place.outbox if place.deaf else (*place.outbox, *outcome.sent)
    after = place.but(process=outcome.process, inbox=inbox, outbox=outbox, id=client)
    is_lost = isinstance(order, Closed) or do is Do.GIVE_UP
    if is_lost:
        after = after.but(id=0, inbox=(), outbox=(), deaf=False, late=None)
    world = _put(world, index, after)
    if outcome.wakes:
        world = world._replace(written=world.written.union(outcome.wakes))
    return world._replace(is_spilled=True) if is_lost else world


def _free_id(world: World) -> int:
    used = {place.id for place in world.places} | {client for client, _ in world.ghosts}
    # Nobody gets the name of one that is gone and is still spoken of.
    used.update(name for place in world.places for name in place.names)
    used.update(client_in(one) for _, events in world.ghosts for one in events)
    if world.daemon:
        used |= set(world.daemon.clients) | set(world.daemon.names)
    return next(number for number in range(1, len(used) + 2) if number not in used)


def event_of(world: World, step: Step) -> Event | None:
    """Return what the core is told by a step, if anything."""
    match step.kind:
        case Kind.DELIVER:
            place = world.places[step.place]
            return _heard(place.id, place.outbox[0], place)
        case Kind.DELIVER_LAST:
            client, events = world.ghosts[step.place]
            return _heard(client, events[0], Place(0))
        case Kind.TICK:
            assert world.daemon is not None and world.daemon.alarm is not None
            return fire(*world.daemon.alarm)
    return None


def _heard(client: int, event: ClientEvent, place: Place) -> ClientEvent:
    """Return a message as the core hears it. Moves take no time here, so they measure nothing."""
    if isinstance(event, Moved | Released):
        return replace(event, now=NOW, client=client, seconds=0.0)
    if isinstance(event, ClientJoined):
        doubted = event.running and place.has_resumed
        return replace(
            event, now=NOW, client=client, owner="", returns=place.has_left, doubted=doubted
        )
    return replace(event, now=NOW, client=client)


def _read(world: World, step: Step) -> World:
    """Take the message that the daemon reads off its connection. Who joins is made welcome."""
    if step.kind is Kind.DELIVER:
        place = world.places[step.place]
        event = place.outbox[0]
        place = place.but(outbox=place.outbox[1:])
        if isinstance(event, ClientJoined):
            resumed = place.has_resumed or event.running
            place = _received(place.but(has_resumed=resumed), Welcome())
        return _put(world, step.place, place)
    if step.kind is Kind.DELIVER_LAST:
        client, (_, *more) = world.ghosts[step.place]
        ghosts = list(world.ghosts)
        ghosts[step.place : step.place + 1] = [(client, tuple(more))] if more else []
        return world._replace(ghosts=tuple(ghosts))
    return world


def _handle(world: World, step: Step) -> World:
    event = event_of(world, step)
    assert world.daemon is not None and event is not None
    answer = world.daemon.handle(event)
    world = _read(world, step)._replace(daemon=answer.daemon)
    for effect in answer.effects:
        world = _carry_out(world, effect)
    return world._replace(is_spilled=True) if answer.is_spilling else world


def _carry_out(world: World, effect: Effect) -> World:
    match effect:
        case Handover():
            number = _free_descriptor(world)
            heir = Standby(effect.turn, effect.fill_bytes, effect.missing, number)
            holder = PassTo(effect.from_turn, effect.turn, effect.to_client, number)
            world = _post(world, effect.to_client, heir)
            return _post(world, effect.from_client, holder)
        case CancelHandover():
            return _post(world, effect.from_client, effect)
    client = getattr(effect, "client", None)
    is_order = hasattr(effect, "client") and type(effect).__name__ not in ("Report", "SetLimits")
    return _post(world, client, effect) if is_order and client is not None else world


def _free_descriptor(world: World) -> int:
    return max(world.written.union(*(place.descriptors for place in world.places)), default=0) + 1


def _post(world: World, client: int, order: Effect) -> World:
    for index, place in enumerate(world.places):
        if place.id == client:
            return _put(world, index, _received(place, order))
    return world


def _received(place: Place, order: Effect) -> Place:
    return place if place.deaf else place.but(inbox=(*place.inbox, order))


def _hang_up(place: Place) -> Place:
    """Close a connection: what was sent before is read still."""
    if not place.id or place.deaf:
        return place
    return place.but(inbox=(*place.inbox, Closed()), outbox=(), deaf=True)


def _kill_daemon(world: World) -> World:
    places = (_hang_up(place) for place in world.places)
    forgotten = tuple(one.but(has_left=False, has_resumed=False) for one in places)
    return world._replace(daemon=None, places=forgotten, ghosts=())


def _end(world: World, place: Place) -> World:
    """Have the daemon read what was sent on a connection, and then that it is closed."""
    if not place.id or place.deaf:
        return world
    left = ClientLeft(now=0.0, client=0)
    return world._replace(ghosts=(*world.ghosts, (place.id, (*place.outbox, left))))


def _kill(world: World, index: int) -> World:
    place = world.places[index]
    return _put(_end(world, place), index, Place(place.size))


def _break(world: World, index: int) -> World:
    place = world.places[index]
    after = _hang_up(place).but(has_left=True)
    return _put(_end(world, place), index, after)
