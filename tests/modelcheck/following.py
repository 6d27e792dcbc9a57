"""The world after a step: of a process, of the daemon, or of a fault."""

from dataclasses import replace

from nvshare.core.effects import CancelHandover, Effect, Handover, Report, SetLimits
from nvshare.core.events import (
    ClientEvent,
    ClientJoined,
    ClientLeft,
    Event,
    Held,
    Moved,
    Released,
)
from tests.property.program import HandoverOrder, Standby

from .daemon import Alarm, Daemon, fire
from .forget import NOW
from .messages import Closed, Welcome, client_in, ends_holding
from .process import Do, Process, act
from .world import Kind, Place, Step, World


def act_in(world: World, index: int, do: Do) -> World:
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
    sent = _without_void(outcome.sent) if any(map(ends_holding, inbox)) else outcome.sent
    outbox = place.outbox if place.deaf else (*place.outbox, *sent)
    after = place.but(process=outcome.process, inbox=inbox, outbox=outbox, id=client)
    is_lost = isinstance(order, Closed) or do is Do.GIVE_UP
    if is_lost:
        after = after.but(id=0, inbox=(), outbox=(), deaf=False, late=None)
    world = world.put(index, after)
    if outcome.wakes:
        world = world._replace(written=world.written.union(outcome.wakes))
    if do is Do.LAUNCH or outcome.has_stepped:
        world = _launch(world, index)
    return world._replace(is_spilled=True) if is_lost else world


def _without_void(events: tuple[ClientEvent, ...]) -> tuple[ClientEvent, ...]:
    """Return the messages that still count after another order to hold, to step or to go on."""
    return tuple(one for one in events if not isinstance(one, Held))


def _launch(world: World, index: int) -> World:
    """Launch a rank's part of a collective, which ends when all ranks have launched theirs."""
    world = world.put(index, world.places[index].but(spins=True))
    return _complete(world, world.places[index].group)


def _complete(world: World, group: str) -> World:
    ranks = world.ranks(group)
    if not all(world.places[rank].spins for rank in ranks):
        return world
    for rank in ranks:
        world = world.put(rank, world.places[rank].but(spins=False))
    return world


def start(world: World, index: int, process: Process) -> World:
    """Have a process begin. A collective that others have launched does not wait for it."""
    place = world.places[index].empty(process)
    waits = any(world.places[rank].spins for rank in world.ranks(place.group))
    return world.put(index, place.but(spins=waits))


def _free_id(world: World) -> int:
    used = {place.id for place in world.places} | {client for client, _ in world.ghosts}
    # A name is not used again while messages name the client that had it.
    used.update(name for place in world.places for name in place.names)
    used.update(client_in(one) for _, events in world.ghosts for one in events)
    if world.daemon:
        used |= {*world.daemon.clients, *world.daemon.names, *world.daemon.gangs}
    return next(number for number in range(1, len(used) + 2) if number not in used)


def event_of(world: World, step: Step) -> Event | None:
    """Return the event that a step gives the core, if any."""
    match step.kind:
        case Kind.DELIVER:
            place = world.places[step.place]
            return _heard(place.id, place.outbox[0], place)
        case Kind.DELIVER_LAST:
            client, events = world.ghosts[step.place]
            return _heard(client, events[0], Place(0))
        case Kind.TICK:
            assert world.daemon is not None
            return fire(_alarm(world.daemon, step))
    return None


def _alarm(daemon: Daemon, step: Step) -> Alarm:
    return next(one for one in daemon.alarms if one.device == step.place)


def _heard(client: int, event: ClientEvent, place: Place) -> ClientEvent:
    """Return a message as the core gets it. Moves take no time here, so they measure nothing."""
    if isinstance(event, Moved | Released):
        return replace(event, now=NOW, client=client, seconds=0.0)
    if isinstance(event, ClientJoined):
        doubted = event.running and place.has_resumed
        return replace(
            event, now=NOW, client=client, owner="", returns=place.has_left, doubted=doubted
        )
    return replace(event, now=NOW, client=client)


def _read(world: World, step: Step) -> World:
    """Take the message that the daemon reads off its connection. A joining client is welcomed."""
    if step.kind is Kind.DELIVER:
        place = world.places[step.place]
        event = place.outbox[0]
        place = place.but(outbox=place.outbox[1:])
        if isinstance(event, ClientJoined):
            resumed = place.has_resumed or event.running
            place = _received(place.but(has_resumed=resumed), Welcome())
        return world.put(step.place, place)
    if step.kind is Kind.DELIVER_LAST:
        client, (_, *more) = world.ghosts[step.place]
        ghosts = list(world.ghosts)
        ghosts[step.place : step.place + 1] = [(client, tuple(more))] if more else []
        return world._replace(ghosts=tuple(ghosts))
    return world


def tell_daemon(world: World, step: Step) -> World:
    event = event_of(world, step)
    assert world.daemon is not None
    assert event is not None
    answer = world.daemon.handle(event)
    world = _read(world, step)._replace(daemon=answer.daemon)
    for effect in answer.effects:
        world = _carry_out(world, effect)
    return world._replace(is_spilled=True) if answer.is_spilling else world


def _carry_out(world: World, effect: Effect) -> World:
    match effect:
        case Handover():
            number = _free_descriptor(world)
            next_client = Standby(effect.turn, effect.fill_bytes, effect.missing, number)
            holder = HandoverOrder(effect.from_turn, effect.turn, effect.to_client, number)
            world = _post(world, effect.to_client, next_client)
            return _post(world, effect.from_client, holder)
        case CancelHandover():
            return _post(world, effect.from_client, effect)
        case Report() | SetLimits():
            return world
    client = getattr(effect, "client", None)
    # Timers are the daemon's own.
    return world if client is None else _post(world, client, effect)


def _free_descriptor(world: World) -> int:
    return max(world.written.union(*(place.descriptors for place in world.places)), default=0) + 1


def _post(world: World, client: int, order: Effect) -> World:
    for index, place in enumerate(world.places):
        if place.id == client:
            return world.put(index, _received(place, order))
    return world


def _received(place: Place, order: Effect) -> Place:
    if place.deaf:
        return place
    outbox = _without_void(place.outbox) if ends_holding(order) else place.outbox
    return place.but(inbox=(*place.inbox, order), outbox=outbox)


def _hang_up(place: Place) -> Place:
    """Close a connection: messages sent before are still read."""
    if not place.id or place.deaf:
        return place
    return place.but(inbox=(*place.inbox, Closed()), outbox=(), deaf=True)


def kill_daemon(world: World) -> World:
    places = (_hang_up(place) for place in world.places)
    forgotten = tuple(one.but(has_left=False, has_resumed=False) for one in places)
    return world._replace(daemon=None, places=forgotten, ghosts=())


def _end(world: World, place: Place) -> World:
    """Let the daemon read all messages of a connection, and then that it is closed."""
    if not place.id or place.deaf:
        return world
    left = ClientLeft(now=0.0, client=0)
    return world._replace(ghosts=(*world.ghosts, (place.id, (*place.outbox, left))))


def kill(world: World, index: int) -> World:
    place = world.places[index]
    return _complete(_end(world, place).put(index, place.empty()), place.group)


def break_connection(world: World, index: int) -> World:
    place = world.places[index]
    after = _hang_up(place).but(has_left=True)
    return _end(world, place).put(index, after)


def without_past(world: World) -> World:
    """Forget the notes for clients that connect again, at places where none will."""
    if not any(place.id and (place.has_left or place.has_resumed) for place in world.places):
        return world
    places = (
        one.but(has_left=False, has_resumed=False) if _stays(one) else one for one in world.places
    )
    return world._replace(places=tuple(places))


def _stays(place: Place) -> bool:
    """Whether the daemon has heard of a process, on a connection that lasts."""
    joins = any(isinstance(one, ClientJoined) for one in place.outbox)
    return bool(place.id) and not place.deaf and not joins
