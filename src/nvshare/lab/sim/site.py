"""One GPU with its core: takes events of the GPU to the core, and orders of the core to programs.

It is to the simulator what daemon/executor.py is to the daemon. GPUs that no program uses together
have separate cores, which do not know of each other.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from nvshare.core.effects import (
    Answer,
    CancelHandover,
    CancelTimer,
    Effect,
    Evict,
    Grant,
    Handover,
    Hold,
    Keep,
    Report,
    Revoke,
    Room,
    SetLimits,
    SetTimer,
    StepOnce,
    Trim,
)
from nvshare.core.events import DeviceAdded, Event, Timer, TimerFired
from nvshare.core.memory import Memory
from nvshare.core.view import DeviceView
from nvshare.lab.emulator.profile import Profile
from nvshare.lab.sim.board import Holding
from nvshare.lab.sim.gpu import Gpu
from nvshare.lab.sim.mover import Mover
from nvshare.lab.sim.pool import Lane
from nvshare.lab.sim.program import SimulatedProgram
from nvshare.lab.sim.record import Record
from nvshare.lab.sim.switchboard import Switchboard
from nvshare.lab.sim.workload import MIB
from nvshare.settings import DeviceSettings


class Clock(Protocol):
    """The time, and calls at later times."""

    now: float

    def at(self, time: float, call: Callable[[], None]) -> None:
        """Call at this time."""

    def ended(self, site: "Site", key: int) -> None:
        """A program has ended."""


class Site:
    """One GPU, its core, and the programs on it."""

    def __init__(
        self,
        clock: Clock,
        index: int,
        profile: Profile,
        settings: DeviceSettings,
        latency: float,
        switchboard: Switchboard,
    ) -> None:
        self.clock = clock
        self.index = index
        self.device = f"gpu{index}"
        self.gpu = Gpu(profile)
        self.latency = latency
        self.inflight = settings.lab.inflight
        self.slice_seconds = settings.lab.slice_seconds
        self.context_seconds = profile.engine.context_create_ms / 1000
        memory = round(profile.memory.usable_mib * MIB)
        self.usable = settings.usable_of(memory)
        self._context = settings.context_of(memory)
        self.programs: dict[int, SimulatedProgram] = {}
        self.records: dict[int, Record] = {}
        self.reports: list[Report] = []
        self.events = 0
        self.switchboard = switchboard
        self._core = switchboard.core
        # The attribution of the programs' time, if it is wanted.
        self._times = switchboard.times
        self.outbox: deque[Event] = deque()
        self._timers: dict[Timer, object] = {}
        self._waiting_for_room: list[Mover] = []
        # The client that each descriptor of a hand-over wakes.
        self._next_clients: list[int] = []
        self._announced: object = None
        switchboard.add(self)
        self.send(
            DeviceAdded(
                now=clock.now,
                device=self.device,
                usable_bytes=self.usable,
                settings=settings.for_core(),
                context_bytes=self._context,
            )
        )

    @property
    def now(self) -> float:
        """The present."""
        return self.clock.now

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Call later, with the GPU up to date."""

        def later() -> None:
            self.gpu.catch_up(self.clock.now)
            call()
            self.deliver()

        self.clock.at(self.clock.now + seconds, later)

    def deliver(self) -> None:
        """Give the core all events so far, and schedule the next event of the GPU."""
        self.switchboard.deliver(self)

    def send(self, event: Event) -> None:
        """Queue an event for the core, after all earlier ones."""
        self.outbox.append(event)

    def wake(self, descriptor: int) -> int:
        """Hand the turn of one program over to another, which is returned."""
        next_one = self._next_clients[descriptor]
        if next_one in self.programs:
            self.programs[next_one].gate.handed(descriptor)
        return next_one

    def tell_progress(self, key: int) -> None:
        """Let all but one, whose turn has ended, report memory that is on its way out."""
        for other, program in self.programs.items():
            if other != key and self.gpu.goes_on(Lane.OUT, other):
                program.gate.tell_progress()

    def count(self, key: int, busy: float, held_back: float) -> None:
        """Note how long a program has computed, and was held back by its share."""
        if self._times is not None:
            self._times.report(self.now, key, busy, held_back)

    def note_time(self, key: int) -> None:
        """Record the attribution of a program's time."""
        if self._times is not None:
            self.records[key].spent = self._times.spent(key, self.now)

    def tell_work(self, key: int) -> None:
        """Let all but one, which begins to wait, report their recent work."""
        for other, program in self.programs.items():
            if other != key:
                program.tell_work()

    def ended(self, key: int) -> None:
        """A program has ended."""
        self.note_time(key)
        del self.programs[key]
        self.clock.ended(self, key)
        self.room_changed()

    @property
    def core_view(self) -> DeviceView:
        """The GPU as the core knows it."""
        return self._core.view(self.device)

    def is_busy(self, key: int) -> bool:
        """Whether the core assumes that a program computes all the time."""
        return any(client.is_busy for client in self._core.client_views([key]))

    def is_open(self, key: int) -> bool:
        """Whether a program is present, and may have work in flight."""
        return key in self.programs and self.programs[key].gate.holds

    def holding(self, key: int) -> Holding:
        """Return a program's memory."""
        return self.gpu.board.holdings[key]

    def memory_of(self, key: int) -> Memory:
        """Return a program's memory as reported to the core, context included."""
        own = self.holding(key)
        away = own.wanted - own.resident - own.appearing + own.leaving
        return Memory(
            own.wanted + self._context,
            self._context,
            away,
            untouched=own.wanted - own.populated - own.appearing,
            kept=own.kept,
            context=self._context,
        )

    def make_context(self, key: int) -> None:
        """Make room for a program's context, if needed by evictions."""
        board, before = self.gpu.board, self.gpu.board.pushed_out
        board.join(key)
        if board.pushed_out > before or self.gpu.pages:
            self._follow_paging()

    def open_bytes_changed(self, by: int) -> None:
        """A gate has opened or closed, or a program that may run has changed its size."""
        paged = self.gpu.pages
        self.gpu.open_bytes += by
        if self.gpu.pages and not paged:
            self._follow_paging()

    def _follow_paging(self) -> None:
        for program in self.programs.values():
            program.follow_paging()

    @property
    def somebody_leaves(self) -> bool:
        """Whether memory is on its way out."""
        return any(self.gpu.goes_on(Lane.OUT, key) for key in self.programs)

    def wait_for_room(self, mover: Mover) -> None:
        """Let a mover try again when room was made."""
        if mover not in self._waiting_for_room:
            self._waiting_for_room.append(mover)

    def stop_waiting_for_room(self, mover: Mover) -> None:
        """Stop waiting: the mover does not need room any more."""
        if mover in self._waiting_for_room:
            self._waiting_for_room.remove(mover)

    def room_changed(self) -> None:
        """Memory was given back."""
        movers, self._waiting_for_room = self._waiting_for_room, []
        for mover in movers:
            mover.try_again()

    def announce(self) -> None:
        """Let the clock call at the next completion on the GPU."""
        time = self.gpu.next_time()
        token = self._announced = object()
        if time == float("inf"):
            return

        def happen() -> None:
            if self._announced is token:
                self.gpu.catch_up(self.clock.now)
                self.gpu.finish_next()
                self.deliver()

        self.clock.at(time, happen)

    def carry_out(self, effect: Effect) -> None:
        """Carry out an order of the core."""
        match effect:
            case SetTimer():
                self._set_timer(effect)
            case CancelTimer():
                self._timers.pop(effect.timer, None)
            case Report():
                self.reports.append(effect)
            case Grant() | Room() | Revoke() | Keep() | Hold() | StepOnce() | Evict() | Trim():
                if effect.client in self.programs:
                    self.programs[effect.client].gate.obey(effect)
            case SetLimits():
                if effect.client in self.programs:
                    self.programs[effect.client].limits_changed(effect)
            case Answer():
                if effect.client in self.programs:
                    self.programs[effect.client].answered(effect.missing)
            case CancelHandover():
                if effect.from_client in self.programs:
                    self.programs[effect.from_client].gate.obey(effect)
            case Handover():
                self._hand_over(effect)

    def _hand_over(self, plan: Handover) -> None:
        next_one, holder = self.programs.get(plan.to_client), self.programs.get(plan.from_client)
        descriptor = len(self._next_clients)
        self._next_clients.append(plan.to_client)
        if next_one:
            next_one.gate.stand_by(plan, descriptor)
        if holder:
            holder.gate.plan_handover(plan.from_turn, plan.turn, descriptor)

    def _set_timer(self, order: SetTimer) -> None:
        self._timers[order.timer] = order

        def fire() -> None:
            if self._timers.get(order.timer) is order:
                del self._timers[order.timer]
                self.gpu.catch_up(self.clock.now)
                self.send(TimerFired(now=self.clock.now, timer=order.timer))
                self.deliver()

        self.clock.at(order.at, fire)
