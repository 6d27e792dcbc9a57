"""A core with one device of 16 bytes, and short words for events on it.

Time stands still unless a test moves it. Every event is followed by a check of the invariants.
"""

from dataclasses import replace
from typing import Any

from nvshare.core.core import Core
from nvshare.core.effects import Effect, Grant, Revoke, SetTimer, Urgency
from nvshare.core.events import (
    ClientJoined,
    ClientLeft,
    DeviceAdded,
    MemoryChanged,
    Moved,
    Reason,
    Released,
    SettingsChanged,
    Timer,
    TimerFired,
    TimerKind,
    Used,
    Wanted,
)
from nvshare.core.lease import State
from nvshare.core.memory import Kind, Memory
from nvshare.core.record.device import DeviceState, RegimeName
from nvshare.core.record.pace import Pace
from nvshare.core.settings import Settings

GPU = "gpu"


class Stage:
    """The stage for tests of the core."""

    def __init__(
        self,
        usable: int = 16,
        reconnect_seconds: float = 0.0,
        journal_events: int = 100,
        context: int = 0,
        unasked: int = 0,
        **settings: Any,
    ) -> None:
        self.now = 1000.0
        self.core = Core(check=True, journal_events=journal_events)
        self.settings = Settings(**settings)
        self.opening = self.core.handle(
            DeviceAdded(
                now=self.now,
                device=GPU,
                usable_bytes=usable,
                settings=self.settings,
                reconnect_seconds=reconnect_seconds,
                context_bytes=context,
                unasked_bytes=unasked,
            )
        )
        self.device = self.core._devices[GPU]

    def join(
        self,
        client: int,
        allocated: int = 0,
        *,
        pinned: int = 0,
        swapped: int = 0,
        is_new: bool = False,
        **more: Any,
    ) -> list[Effect]:
        """Join. A new client may interrupt others; most tests are not about that."""
        memory = Memory(allocated, pinned, swapped)
        event = ClientJoined(now=self.now, client=client, device=GPU, memory=memory, **more)
        effects = self.core.handle(event)
        self.device.roster.clients[client].precedence.is_new = is_new
        return effects

    def join_native(self, client: int, allocated: int) -> list[Effect]:
        return self.join(client, allocated, kind=Kind.NATIVE)

    def want(self, client: int, turn: int = 0) -> list[Effect]:
        return self.core.handle(Wanted(now=self.now, client=client, turn=turn))

    def busy(self, client: int, allocated: int = 0, **more: Any) -> list[Effect]:
        """Join with memory that was never touched, and have work at the gate."""
        return [*self.join(client, allocated, swapped=allocated, **more), *self.want(client)]

    def release(self, client: int, *, wants: bool = False, **more: Any) -> list[Effect]:
        who = self.device.roster.clients[client]
        told = who.state is State.YIELDING
        facts: dict[str, Any] = {
            "turn": who.turn.number,
            "memory": who.memory,
            "reason": Reason.TOLD if told else Reason.IDLE,
        }
        facts |= more
        return self.core.handle(Released(now=self.now, client=client, wants=wants, **facts))

    def memory(
        self, client: int, allocated: int, pinned: int = 0, swapped: int = 0, ticket: int = 0
    ) -> list[Effect]:
        memory = Memory(allocated, pinned, swapped)
        return self.core.handle(
            MemoryChanged(now=self.now, client=client, memory=memory, ticket=ticket)
        )

    def ask_for_context(self, client: int, context: int, ticket: int = 1) -> list[Effect]:
        memory = self.device.roster.clients[client].memory
        more = replace(memory, allocated=memory.allocated + context, pinned=memory.pinned + context)
        return self.core.handle(
            MemoryChanged(now=self.now, client=client, memory=more, ticket=ticket, for_context=True)
        )

    def moved(self, client: int, memory: Memory, **more: Any) -> list[Effect]:
        turn = self.device.roster.clients[client].turn.number
        return self.core.handle(
            Moved(now=self.now, client=client, turn=turn, memory=memory, **more)
        )

    def used(self, client: int, busy_seconds: float) -> list[Effect]:
        return self.core.handle(Used(now=self.now, client=client, busy_seconds=busy_seconds))

    def leave(self, client: int) -> list[Effect]:
        return self.core.handle(ClientLeft(now=self.now, client=client))

    def fire(self, kind: TimerKind, at: float | None = None) -> list[Effect]:
        """Let a timer fire when it is due, or at another time."""
        self.now = self.device.state.alarms[kind] if at is None else at
        return self.core.handle(TimerFired(now=self.now, timer=Timer(GPU, kind)))

    def change(self, usable: int | None = None, **settings: Any) -> list[Effect]:
        self.settings = replace(self.settings, **settings)
        return self.core.handle(
            SettingsChanged(now=self.now, device=GPU, settings=self.settings, usable_bytes=usable)
        )

    def state(self, client: int) -> State:
        return self.device.roster.clients[client].state

    def states(self) -> dict[int, str]:
        clients = self.device.roster.clients.values()
        return {client.id: client.state.value for client in clients}


def make_state() -> DeviceState:
    """The state of a new device."""
    return DeviceState(
        id="gpu",
        usable_bytes=16,
        settings=Settings(),
        regime=RegimeName.MEMORY,
        pace=Pace(1.0),
        reconnect_until=0.0,
        turn_started=0.0,
    )


def granted(effects: list[Effect]) -> list[int]:
    return [effect.client for effect in effects if isinstance(effect, Grant)]


def asked(effects: list[Effect]) -> list[int]:
    return _revoked(effects, Urgency.WHEN_IDLE)


def told(effects: list[Effect]) -> list[int]:
    return _revoked(effects, Urgency.NOW)


def _revoked(effects: list[Effect], urgency: Urgency) -> list[int]:
    revokes = [effect for effect in effects if isinstance(effect, Revoke)]
    return [effect.client for effect in revokes if effect.urgency is urgency]


def timers(effects: list[Effect]) -> dict[TimerKind, float]:
    return {e.timer.kind: e.at for e in effects if isinstance(e, SetTimer)}
