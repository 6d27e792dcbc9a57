"""Describes a path for a person: the steps, their results, and the state of things."""

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from typing import Any

from nvshare.core.effects import CancelHandover, Handover, Report
from nvshare.core.events import Event
from nvshare.machine import Job

from .case import Case
from .following import event_of
from .forget import NOW
from .keys import tidy
from .messages import Message
from .process import Do
from .properties import check_step
from .violation import Violation
from .world import Kind, Place, Step, World

_QUIET = {"now", "client", "idle_seconds", "owner", "device", "kind", "text"}


def tell(case: Case, path: list[Step], problem: str) -> Iterator[str]:
    """Return the lines of a path that leads to a problem."""
    sizes = ", ".join(f"{number}: {size}" for number, size in enumerate(case.sizes, 1))
    yield f"{problem}"
    yield f"A GPU of {case.capacity} units, and processes that need (number: units) {sizes}."
    world = case.begin()
    for number, step in enumerate(path, 1):
        yield f"{number:3}. {sentence(world, step)}"
        event = event_of(world, step)
        if event is not None and world.daemon is not None:
            yield from (f"        -> {line}" for line in _orders(world, event))
        try:
            world = tidy(check_step(case, world, step, case.follow(world, step)))
        except (Violation, AssertionError) as error:
            yield f"     Here it fails: {error}"
            break
    yield "The state at that moment:"
    yield from (f"  {line}" for line in stand(world))


def sentence(world: World, step: Step) -> str:
    """Describe a step."""
    who = f"process {step.place + 1}"
    where = f" on GPU {step.place + 1}" if step.place else ""
    match step.kind:
        case Kind.DO if step.do is Do.READ:
            return f"{who} reads {_said(world.places[step.place].inbox[0])}"
        case Kind.DO:
            assert step.do is not None
            return f"{who} {step.do.value}"
        case Kind.DELIVER:
            return f"the daemon reads from {who}: {_said(world.places[step.place].outbox[0])}"
        case Kind.DELIVER_LAST:
            client, events = world.ghosts[step.place]
            return f"the daemon reads from client {client}, which is gone: {_said(events[0])}"
        case Kind.TICK:
            assert world.daemon is not None
            alarm = next(one for one in world.daemon.alarms if one.device == step.place)
            return f"{alarm.seconds} s later, the timer of {alarm.kind.value} fires{where}"
        case Kind.LATE:
            assert step.late is not None
            return f"{who} {step.late.value}"
        case Kind.GO_ON | Kind.START | Kind.DROP | Kind.KILL | Kind.BREAK:
            return f"{who} {step.kind.value}"
    return str(step.kind.value)


def _orders(world: World, event: Event) -> Iterator[str]:
    assert world.daemon is not None
    names = {place.id: index for index, place in enumerate(world.places, 1) if place.id}
    try:
        effects = world.daemon.handle(event).effects
    except Violation:
        return
    for effect in effects:
        client = getattr(effect, "client", None)
        if isinstance(effect, Handover):
            next_client, holder = names.get(effect.to_client), names.get(effect.from_client)
            said = _said(effect)
            yield f"process {holder} is to hand its turn over to process {next_client}: {said}"
        elif isinstance(effect, CancelHandover):
            yield f"to process {names.get(effect.from_client)}: {_said(effect)}"
        elif isinstance(effect, Report):
            yield f"log: {effect.kind.value}, process {names.get(client or 0)}"
        elif client is not None:
            yield f"to process {names.get(client)}: {_said(effect)}"


def _said(message: Message | Any) -> str:
    """Return a message with its unusual values."""
    parts = []
    for one in fields(message):
        value = getattr(message, one.name)
        if one.name in _QUIET or value == one.default or value is None:
            continue
        if one.name == "memory":
            value = f"{value.resident} of {value.allocated}"
        parts.append(f"{one.name} {value.value if isinstance(value, Enum) else value}")
    return " ".join([type(message).__name__, ", ".join(parts)]).strip()


def stand(world: World) -> Iterator[str]:
    """Describe the state of things."""
    if world.daemon is None:
        yield "there is no daemon"
    else:
        for number, device in enumerate(world.daemon.devices, 1):
            alarms = device.alarms.items()
            timers = ", ".join(f"{kind.value} in {at - NOW:g} s" for kind, at in alarms)
            yield f"daemon: timers of GPU {number}: {timers or 'none'}"
    for index, place in enumerate(world.places, 1):
        yield f"process {index}: {_place(world, place)}"


def _place(world: World, place: Place) -> str:
    process = place.process
    if process is None:
        return "does not run"
    body = process.body
    parts = [
        process.state.name,
        "gate open" if process.is_open else "gate closed",
        "has work" if body.busy else "has none",
        f"{process.on_device} of {place.size} on the GPU",
    ]
    if body.mover.job is not Job.RESTS:
        parts.append(body.mover.job.name.lower().replace("_", " "))
    client = world.daemon.clients.get(place.id) if world.daemon else None
    if client:
        parts.append(f"client {place.id} is {client.state.value}, turn {client.turn.number}")
    if place.spins:
        parts.append("its work in flight waits for other ranks")
    if place.inbox or place.outbox:
        parts.append(f"to read {len(place.inbox)}, sent {len(place.outbox)}")
    return ", ".join(parts)
