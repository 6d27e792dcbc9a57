"""A counterexample as a journal for tests/replay: the core's events, and its answers.

It is played to one core, in a time that goes on, with the numbers that the core gives. Nothing is
forgotten. So it also shows whether the fault is the core's, or the model's own.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nvshare.core.core import Core
from nvshare.core.events import Event
from nvshare.core.invariants import BrokenInvariant
from nvshare.core.lease import IllegalTransition
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState

from .case import Case
from .daemon import Alarm, Answer, begin, charge_all, clients_of, is_spilling, next_alarms
from .forget import NOW, RECONNECT_SECONDS
from .properties import check_step
from .violation import Violation
from .world import Kind, Step, World

_LONG = 1 << 20


class Recording:
    """A daemon that remembers everything, in place of a comparable one."""

    def __init__(self, case: Case, reconnect_seconds: float) -> None:
        self._core = Core(check=True, journal_events=_LONG)
        self._now = 100.0
        first = begin(self._now, case.capacity, case.settings, reconnect_seconds, case.devices)
        for event in first:
            self._core.handle(event)

    def lines(self) -> Iterator[str]:
        """Return the journal."""
        return self._core.journal.lines()

    @property
    def devices(self) -> tuple[DeviceState, ...]:
        """What each device remembers."""
        return tuple(device.state for device in self._core.snapshot().devices)

    @property
    def clients(self) -> dict[int, Client]:
        """The clients that it knows, by id."""
        return clients_of(self._core.snapshot())

    @property
    def names(self) -> tuple[int, ...]:
        """The clients of planned hand-overs. No others are named."""
        plans = filter(None, (device.handover for device in self.devices))
        return tuple(name for plan in plans for name in (plan.from_client, plan.to_client))

    @property
    def gangs(self) -> set[int]:
        """The numbers of gangs, which are those of clients, also of some that have left."""
        return {one.gang.number for one in self.clients.values() if one.gang.number is not None}

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The timers that may be the next to fire."""
        return next_alarms(self.devices, self._now)

    @property
    def waives_room(self) -> bool:
        """Whether clients of some device were told not to wait for room any longer."""
        return any(device.room_waived for device in self.devices)

    def handle(self, event: Event) -> Answer:
        """Take an event, at the present time of the recording."""
        self._now += event.now - NOW
        try:
            effects = tuple(self._core.handle(replace(event, now=self._now)))
        except (BrokenInvariant, IllegalTransition) as error:
            raise Violation(f"{type(error).__name__}: {str(error).splitlines()[0]}") from error
        charge_all(self._core, self._now)
        same: Any = self
        return Answer(same, effects, is_spilling(self.devices, effects))


def play(case: Case, path: list[Step]) -> tuple[str, list[str]]:
    """Return the problem on a path, if any, and the journal of the last daemon."""
    world, recording, problem = case.begin(), Recording(case, 0.0), ""
    world = with_recording(world, recording)
    for step in path:
        try:
            world = check_step(case, world, step, case.follow(world, step))
        except (Violation, AssertionError) as error:
            problem = str(error)
            break
        if step.kind is Kind.RESTART:
            recording = Recording(case, RECONNECT_SECONDS)
            world = with_recording(world, recording)
    return problem, list(recording.lines())


def with_recording(world: World, recording: Recording) -> World:
    """Return the same world with another daemon, which has just begun."""
    daemon: Any = recording
    return world._replace(daemon=daemon)
