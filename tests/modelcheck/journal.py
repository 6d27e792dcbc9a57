"""A counterexample as a journal for tests/replay: the core's events, and its answers.

It is played to one core, in a time that goes on, with the numbers that the core gives. Nothing is
forgotten. So it also shows whether the fault is the core's, or the model's own.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

from nvshare.core.core import Core
from nvshare.core.effects import Report, ReportKind
from nvshare.core.events import DeviceAdded, Event, TimerKind
from nvshare.core.invariants import BrokenInvariant
from nvshare.core.lease import IllegalTransition
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState

from .case import Case
from .daemon import GPU, Answer
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
        self._core.handle(
            DeviceAdded(
                now=self._now,
                device=GPU,
                usable_bytes=case.capacity,
                settings=case.settings,
                reconnect_seconds=reconnect_seconds,
            )
        )

    def lines(self) -> Iterator[str]:
        """Return the journal."""
        return self._core.journal.lines()

    @property
    def device(self) -> DeviceState:
        """What the device remembers."""
        return self._core.snapshot().devices[0].state

    @property
    def clients(self) -> dict[int, Client]:
        """The clients that it knows, by id."""
        return {client.id: client for client in self._core.snapshot().devices[0].clients}

    @property
    def names(self) -> tuple[int, ...]:
        """The clients of a planned hand-over. No others are named."""
        plan = self.device.handover
        return (plan.from_client, plan.to_client) if plan else ()

    @property
    def alarm(self) -> tuple[TimerKind, int] | None:
        """The next timer, and the seconds until it fires."""
        alarms = self.device.alarms
        if not alarms:
            return None
        kind = min(alarms, key=lambda one: alarms[one])
        return kind, max(0, ceil(alarms[kind] - self._now))

    def handle(self, event: Event) -> Answer:
        """Take an event, at the present time of the recording."""
        self._now += event.now - NOW
        try:
            effects = tuple(self._core.handle(replace(event, now=self._now)))
        except (BrokenInvariant, IllegalTransition) as error:
            raise Violation(f"{type(error).__name__}: {str(error).splitlines()[0]}") from error
        is_spilling = self.device.room_waived or any(
            isinstance(one, Report) and one.kind is ReportKind.OVERDUE for one in effects
        )
        same: Any = self
        return Answer(same, effects, is_spilling)


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
