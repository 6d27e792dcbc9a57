"""The real core as a value: a snapshot, and its successor after each event, computed once.

A snapshot is made comparable: its time is always the same, and forget.py removes the parts that
cannot make a difference any more.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, is_dataclass, replace
from functools import cached_property
from math import ceil
from operator import attrgetter
from typing import Any, NamedTuple

from nvshare.core.core import Core
from nvshare.core.effects import CancelTimer, Effect, Report, ReportKind, SetTimer
from nvshare.core.events import DeviceAdded, Event, Timer, TimerFired, TimerKind
from nvshare.core.invariants import BrokenInvariant
from nvshare.core.lease import IllegalTransition
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceSnapshot, DeviceState, Snapshot
from nvshare.core.settings import Settings

from .forget import NOW, forget
from .messages import Renumber, Turns
from .violation import Violation

GPU = "gpu"
# Far more than a journal of one event has.
_NEVER = 1 << 30


def _names(record: Any, before: str = "") -> Iterator[str]:
    """Return the names of all fields of a record and its parts."""
    for one in fields(record):
        part = getattr(record, one.name)
        if is_dataclass(part) and type(part).__hash__ is None:
            yield from _names(part, f"{before}{one.name}.")
        else:
            yield f"{before}{one.name}"


_CLIENT = attrgetter(*(name for name in _names(Client(0)) if name not in ("id", "group")))
_APART = {"id", "settings", "pace", "ways", "alarms", "handover", "head", "use_clock", "left_uses"}
_DEVICE = attrgetter(*(one.name for one in fields(DeviceState) if one.name not in _APART))


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

    @property
    def device(self) -> DeviceState:
        """What the device remembers."""
        return self.snapshot.devices[0].state

    @cached_property
    def clients(self) -> dict[int, Client]:
        """The clients that it knows, by id."""
        return {client.id: client for client in self.snapshot.devices[0].clients}

    @cached_property
    def names(self) -> tuple[int, ...]:
        """The clients that its memory names, 0 for none."""
        plan = self.device.handover
        next_clients = (plan.from_client, plan.to_client) if plan else (0, 0)
        return (self.device.head or 0, *next_clients)

    @cached_property
    def turns(self) -> Turns:
        """The turns that it knows, each with its owner."""
        known = [(one.id, turn) for one in self.clients.values() for turn in _turns(one)]
        if plan := self.device.handover:
            known += [(plan.from_client, plan.from_turn), (plan.to_client, plan.turn)]
        return tuple(known)

    @cached_property
    def alarm(self) -> tuple[TimerKind, int] | None:
        """The next timer, and the seconds until it fires. Timers fire a little late."""
        alarms = self.device.alarms
        if not alarms:
            return None
        kind = min(alarms, key=lambda one: alarms[one])
        return kind, max(0, ceil(alarms[kind] - NOW))

    def handle(self, event: Event) -> Answer:
        """Return the answer to an event."""
        answer = self.answers.get(event)
        if answer is None:
            answer = self.answers[event] = _handle(self, event)
        return answer

    def renumbered(self, turn: Renumber, last: int) -> "Daemon":
        """Return the same daemon with other numbers of turns."""
        snapshot = Core(self.snapshot).snapshot()
        device = snapshot.devices[0].state
        for client in snapshot.devices[0].clients:
            client.turn.number = turn(client.id, client.turn.number)
            if client.turn.next is not None:
                client.turn.next = turn(client.id, client.turn.next)
        if plan := device.handover:
            device.handover = replace(
                plan,
                from_turn=turn(plan.from_client, plan.from_turn),
                turn=turn(plan.to_client, plan.turn),
            )
        device.last_turn = last
        return _freeze(snapshot)


def new_daemon(usable_bytes: int, settings: Settings, reconnect_seconds: float) -> Daemon:
    """Return a daemon that has just begun."""
    empty = Daemon(Snapshot(), -1, {}, {})
    event = DeviceAdded(
        now=NOW,
        device=GPU,
        usable_bytes=usable_bytes,
        settings=settings,
        reconnect_seconds=reconnect_seconds,
    )
    return empty.handle(event).daemon


def fire(kind: TimerKind, seconds: int) -> TimerFired:
    """Return the event of a timer that fires some seconds from now."""
    return TimerFired(now=NOW + seconds, timer=Timer(GPU, kind))


def _turns(client: Client) -> tuple[int, int]:
    return client.turn.number, client.turn.next or 0


def _handle(daemon: Daemon, event: Event) -> Answer:
    core = Core(daemon.snapshot, check=True, journal_events=_NEVER)
    try:
        effects = tuple(core.handle(event))
    except (BrokenInvariant, IllegalTransition) as error:
        text = str(error).splitlines()[0]
        raise Violation(f"{type(error).__name__}: {text}") from error
    snapshot = core.snapshot()
    state = snapshot.devices[0].state
    _check_timers(daemon, event, effects, state)
    is_spilling = state.room_waived or any(
        isinstance(one, Report) and one.kind is ReportKind.OVERDUE for one in effects
    )
    forget(snapshot, event.now)
    return Answer(_freeze(snapshot), effects, is_spilling)


def _check_timers(
    daemon: Daemon, event: Event, effects: tuple[Effect, ...], state: DeviceState
) -> None:
    """The timers that the shell was told to set are those the core counts on."""
    timers = dict(daemon.device.alarms) if daemon.snapshot.devices else {}
    if isinstance(event, TimerFired):
        timers.pop(event.timer.kind, None)
    for effect in effects:
        if isinstance(effect, SetTimer):
            timers[effect.timer.kind] = effect.at
        elif isinstance(effect, CancelTimer):
            timers.pop(effect.timer.kind, None)
    if timers != state.alarms:
        raise Violation(f"timers are {timers}, and the core counts on {state.alarms}")


_KNOWN: dict[Any, Daemon] = {}
_NUMBERS: dict[Any, int] = {}


def forget_daemons() -> None:
    """Forget all computed answers: the core may be another one."""
    _KNOWN.clear()


def _number(value: Any) -> int:
    return _NUMBERS.setdefault(value, len(_NUMBERS))


def _freeze(snapshot: Snapshot) -> Daemon:
    device = snapshot.devices[0]
    shapes = {client.id: _CLIENT(client) for client in device.clients}
    own = _device_shape(device)
    plan = device.state.handover
    names = (device.state.head, plan and (plan.from_client, plan.to_client))
    key = (own, names, tuple(shapes.items()))
    daemon = _KNOWN.get(key)
    if daemon is None:
        numbers = {client: _number(shape) for client, shape in shapes.items()}
        daemon = _KNOWN[key] = Daemon(snapshot, _number(own), numbers, {})
    return daemon


def _device_shape(device: DeviceSnapshot) -> tuple[Any, ...]:
    state = device.state
    plan = state.handover
    handover = plan and (plan.from_turn, plan.turn, plan.fill_bytes, plan.missing)
    alarms = tuple(sorted((kind.value, at) for kind, at in state.alarms.items()))
    uses = astuple(state.use_clock), tuple(sorted(state.left_uses.items()))
    return (*_DEVICE(state), handover, alarms, uses, state.ways.present)
