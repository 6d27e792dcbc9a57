"""The real core as a value: a snapshot, and its successor after each event, computed once.

A snapshot is made comparable: its time is always the same, and forget.py removes the parts that
cannot make a difference any more.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, is_dataclass, replace
from functools import cached_property
from math import ceil, inf
from operator import attrgetter
from typing import Any, NamedTuple

from nvshare.core.core import Core
from nvshare.core.effects import (
    CancelTimer,
    Effect,
    Grant,
    Hold,
    Report,
    ReportKind,
    Room,
    SetTimer,
    StepOnce,
)
from nvshare.core.events import DeviceAdded, Event, Timer, TimerFired, TimerKind
from nvshare.core.invariants import BrokenInvariant
from nvshare.core.lease import IllegalTransition
from nvshare.core.precedence.charge import advance_clock
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceSnapshot, DeviceState, Snapshot
from nvshare.core.settings import Settings

from .forget import NOW, forget
from .messages import Renumber, Turns
from .violation import Violation

GPUS = ("gpu", "gpu1")
# Far more than a journal of one event has.
_NEVER = 1 << 30
# Less than any time that makes a difference.
_INSTANT = 1e-9


def _names_of(record: Any, before: str = "") -> Iterator[str]:
    """Return the names of all fields of a record and its parts."""
    for one in fields(record):
        part = getattr(record, one.name)
        if is_dataclass(part) and type(part).__hash__ is None:
            yield from _names_of(part, f"{before}{one.name}.")
        else:
            yield f"{before}{one.name}"


_CLIENT = attrgetter(*(one for one in _names_of(Client(0)) if one not in ("id", "gang.number")))
_APART = {"id", "settings", "pace", "ways", "alarms", "handover", "head", "use_clock", "left_uses"}
_DEVICE = attrgetter(*(one.name for one in fields(DeviceState) if one.name not in _APART))


class Alarm(NamedTuple):
    """A timer that fires next: of which device, and in how many seconds."""

    device: int
    kind: TimerKind
    seconds: float


class Answer(NamedTuple):
    """The result of an event: the new daemon, and its orders."""

    daemon: "Daemon"
    effects: tuple[Effect, ...]
    is_spilling: bool


@dataclass(eq=False)
class Daemon:
    """A daemon at one moment."""

    snapshot: Snapshot
    number: int
    # By client, a number that stands for all that is known of it.
    numbers: dict[int, int]
    answers: dict[Event, Answer]

    @cached_property
    def devices(self) -> tuple[DeviceState, ...]:
        """What each device remembers."""
        return tuple(device.state for device in self.snapshot.devices)

    @cached_property
    def clients(self) -> dict[int, Client]:
        """The clients that it knows, by id."""
        return clients_of(self.snapshot)

    @cached_property
    def names(self) -> tuple[int, ...]:
        """The clients that its memory names, 0 for none."""
        return tuple(name for device in self.devices for name in _names(device))

    @property
    def gangs(self) -> set[int]:
        """The numbers of gangs, which are those of clients, also of some that have left."""
        return {one.gang.number for one in self.clients.values() if one.gang.number is not None}

    @cached_property
    def turns(self) -> Turns:
        """The turns that it knows, each with its owner."""
        known = [(one.id, turn) for one in self.clients.values() for turn in _turns(one)]
        for plan in filter(None, (device.handover for device in self.devices)):
            known += [(plan.from_client, plan.from_turn), (plan.to_client, plan.turn)]
        return tuple(known)

    @property
    def last_turns(self) -> set[int]:
        """The last turn of each device."""
        return {device.last_turn for device in self.devices}

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """The timers that may be the next to fire."""
        return next_alarms(self.devices, NOW)

    @cached_property
    def waives_room(self) -> bool:
        """Whether clients of some device were told not to wait for room any longer."""
        return any(device.room_waived for device in self.devices)

    def handle(self, event: Event) -> Answer:
        """Return the answer to an event."""
        answer = self.answers.get(event)
        if answer is None:
            answer = self.answers[event] = _handle(self, event)
        return answer

    def renumbered(self, turn: Renumber, last: int) -> "Daemon":
        """Return the same daemon with other numbers of turns."""
        snapshot = Core(self.snapshot).snapshot()
        for client in clients_of(snapshot).values():
            client.turn.number = turn(client.id, client.turn.number)
            if client.turn.next is not None:
                client.turn.next = turn(client.id, client.turn.next)
        for device in (one.state for one in snapshot.devices):
            if plan := device.handover:
                device.handover = replace(
                    plan,
                    from_turn=turn(plan.from_client, plan.from_turn),
                    turn=turn(plan.to_client, plan.turn),
                )
            device.last_turn = last
        return _freeze(snapshot)


def new_daemon(
    usable_bytes: int, settings: Settings, reconnect_seconds: float, devices: int = 1
) -> Daemon:
    """Return a daemon that has just begun."""
    daemon = Daemon(Snapshot(), -1, {}, {})
    for event in begin(NOW, usable_bytes, settings, reconnect_seconds, devices):
        daemon = daemon.handle(event).daemon
    return daemon


def begin(
    now: float, usable_bytes: int, settings: Settings, reconnect_seconds: float, devices: int
) -> list[DeviceAdded]:
    """Return the events with which a daemon begins."""
    return [
        DeviceAdded(
            now=now,
            device=name,
            usable_bytes=usable_bytes,
            settings=settings,
            reconnect_seconds=reconnect_seconds,
        )
        for name in GPUS[:devices]
    ]


def fire(alarm: Alarm) -> TimerFired:
    """Return the event of a timer."""
    return TimerFired(now=NOW + alarm.seconds, timer=Timer(GPUS[alarm.device], alarm.kind))


def clients_of(snapshot: Snapshot) -> dict[int, Client]:
    """Return all clients by id."""
    return {client.id: client for device in snapshot.devices for client in device.clients}


def next_alarms(devices: tuple[DeviceState, ...], now: float) -> tuple[Alarm, ...]:
    """Return the timers that may be the next to fire: one of each device, if at the same time.

    They fire a little late, at whole seconds. Those of ranks that hold are much shorter than that.
    """
    firsts = [
        Alarm(index, kind, _seconds(kind, device.alarms[kind] - now))
        for index, device in enumerate(devices)
        for kind in sorted(device.alarms, key=device.alarms.__getitem__)[:1]
    ]
    soonest = min((one.seconds for one in firsts), default=inf)
    return tuple(one for one in firsts if one.seconds <= soonest)


def _seconds(kind: TimerKind, seconds: float) -> float:
    if kind is TimerKind.STEP:
        return max(0.0, round(seconds, 6))
    return max(0, ceil(seconds - _INSTANT))


def _names(device: DeviceState) -> tuple[int, ...]:
    plan = device.handover
    next_clients = (plan.from_client, plan.to_client) if plan else (0, 0)
    return (device.head or 0, *next_clients)


def _turns(client: Client) -> tuple[int, int]:
    return client.turn.number, client.turn.next or 0


def _handle(daemon: Daemon, event: Event) -> Answer:
    core = Core(daemon.snapshot, check=True, journal_events=_NEVER)
    try:
        effects = tuple(core.handle(event))
    except (BrokenInvariant, IllegalTransition) as error:
        text = str(error).splitlines()[0]
        raise Violation(f"{type(error).__name__}: {text}") from error
    charge_all(core, event.now)
    snapshot = core.snapshot()
    _check_timers(daemon, event, effects, snapshot)
    answer = is_spilling(tuple(one.state for one in snapshot.devices), effects)
    forget(snapshot, event.now)
    return Answer(_freeze(snapshot), effects, answer)


def charge_all(core: Core, now: float) -> None:
    """Charge the time until now on all devices. Those without an event would do that later."""
    for device in core._devices.values():
        advance_clock(device.roster, now)


def is_spilling(devices: tuple[DeviceState, ...], effects: tuple[Effect, ...]) -> bool:
    """Whether there may be more on a device than it has.

    Some are not waited for any longer, or a rank catches up and does not wait for room.
    """
    reports = (one.kind for one in effects if isinstance(one, Report))
    held = {one.client for one in effects if isinstance(one, Hold | StepOnce)}
    catches_up = any(isinstance(one, Grant | Room) and one.client in held for one in effects)
    waived = any(one.room_waived for one in devices)
    return waived or catches_up or ReportKind.OVERDUE in reports


def _check_timers(
    daemon: Daemon, event: Event, effects: tuple[Effect, ...], after: Snapshot
) -> None:
    """The timers that the shell was told to set are those the core counts on."""
    timers = _timers(daemon.snapshot)
    if isinstance(event, TimerFired):
        timers.pop(event.timer, None)
    for effect in effects:
        if isinstance(effect, SetTimer):
            timers[effect.timer] = effect.at
        elif isinstance(effect, CancelTimer):
            timers.pop(effect.timer, None)
    if timers != (expected := _timers(after)):
        raise Violation(f"timers are {timers}, and the core counts on {expected}")


def _timers(snapshot: Snapshot) -> dict[Timer, float]:
    states = [device.state for device in snapshot.devices]
    return {Timer(one.id, kind): at for one in states for kind, at in one.alarms.items()}


_KNOWN: dict[Any, Daemon] = {}
_NUMBERS: dict[Any, int] = {}


def forget_daemons() -> None:
    """Forget all computed answers: the core may be another one."""
    _KNOWN.clear()


def _number(value: Any) -> int:
    return _NUMBERS.setdefault(value, len(_NUMBERS))


def _freeze(snapshot: Snapshot) -> Daemon:
    numbers = {
        one.gang.number for one in clients_of(snapshot).values() if one.gang.number is not None
    }
    # Only the order of gangs makes a difference.
    gangs = {number: rank for rank, number in enumerate(sorted(numbers))}
    shapes: dict[int, tuple[Any, ...]] = {}
    for index, device in enumerate(snapshot.devices):
        for client in device.clients:
            gang = None if client.gang.number is None else gangs[client.gang.number]
            shapes[client.id] = (index, gang, *_CLIENT(client))
    own = tuple(map(_device_shape, snapshot.devices))
    names = tuple(name for device in snapshot.devices for name in _names(device.state))
    key = (own, names, tuple(shapes.items()), tuple(gangs))
    daemon = _KNOWN.get(key)
    if daemon is None:
        known = {client: _number(shape) for client, shape in shapes.items()}
        daemon = _KNOWN[key] = Daemon(snapshot, _number(own), known, {})
    return daemon


def _device_shape(device: DeviceSnapshot) -> tuple[Any, ...]:
    state = device.state
    plan = state.handover
    handover = plan and (plan.from_turn, plan.turn, plan.fill_bytes, plan.missing)
    alarms = tuple(sorted((kind.value, at) for kind, at in state.alarms.items()))
    uses = astuple(state.use_clock), tuple(sorted(state.left_uses.items()))
    return (*_DEVICE(state), handover, alarms, uses, state.ways.present)
