"""A program with an interposer in it, as far as the core can tell: the machine, and its performer.

It reads its orders and sends its messages in order. The world decides when.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from nvshare.core.effects import (
    Answer,
    CancelHandover,
    Effect,
    Evict,
    Grant,
    Hold,
    Keep,
    Revoke,
    Room,
    StepOnce,
    Trim,
    Urgency,
    Verdict,
)
from nvshare.core.events import (
    CannotDrain,
    ClientEvent,
    ClientJoined,
    ClientLeft,
    Held,
    MemoryChanged,
    Moved,
    Reason,
    Released,
    Used,
    Wanted,
)
from nvshare.core.memory import Kind, Memory
from nvshare.machine import Act, Action, Event, Job, Machine, Result, State
from nvshare.machine import Reason as Why
from nvshare.machine.values import Hello

from .collective import Collective
from .mover import PACE, Mover

REASONS = {Why.IDLE: Reason.IDLE, Why.TOLD: Reason.TOLD, Why.USED_UP: Reason.USED_UP}
DRAINS = (State.CLOSING, State.STOPPING)
HOLDS = (State.HOLDING, State.HELD)


@dataclass(frozen=True)
class Standby(Effect):
    """To the next program: when the descriptor is written to, this turn is yours."""

    turn: int
    fill_bytes: int
    missing: int
    descriptor: int


@dataclass(frozen=True)
class HandoverOrder(Effect):
    """To the holder: write to the descriptor when you release this turn."""

    turn: int
    next_turn: int
    next_client: int
    descriptor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered(ClientEvent):
    """The answer to an order to hold or to step, with the number of that order."""

    event: ClientEvent
    number: int


@dataclass
class Program:
    """One client. ``drain`` is the time it takes to give way.

    ``tangled`` is how often it finds instead that its work in flight waits for its next calls.
    """

    id: int
    kind: Kind
    memory: Memory
    drain: float
    # Writes to a descriptor.
    wake: Callable[[int], None]
    # Whether a descriptor was written to.
    is_written: Callable[[int], bool]
    # Its memory does not come in on use.
    is_explicit: bool = False
    tangled: int = 0
    device: str = ""
    # Its gang, and the collectives that it waits for together with the other ranks.
    group: str = ""
    # Who it belongs to: one of three users, if nobody says.
    owner: str = ""
    collective: Collective | None = None
    busy: bool = False
    stopped: bool = False
    # Seconds for which it held turns, and for which it claims to have been busy.
    held: float = 0.0
    used: float = 0.0
    # Its last request until it is answered: the ticket, and the memory without it.
    ticket: int = 0
    without: Memory | None = None
    # Memory that it has asked for and not used yet: that is nowhere, and counts as swapped.
    fresh: int = 0
    # Bytes that it has really moved to the host; and the most of that ever, which has pages there.
    out: int = 0
    pages: int = 0
    inbox: deque[Effect] = field(default_factory=deque)
    # The numbers of the hold and step orders in the inbox, and of the last one that was read.
    numbers: deque[int] = field(default_factory=deque)
    number: int = 0
    outbox: deque[ClientEvent] = field(default_factory=deque)
    machine: Machine = field(default_factory=Machine)
    mover: Mover = field(default_factory=Mover)
    gate_is_open: bool = False
    now: float = 0.0
    # When it will have drained, or been idle for as long as requested.
    quiet_at: float | None = None
    idle_seconds: float = 0.0
    # When half of the leaving memory will have left: that is reported.
    news_at: float | None = None
    grows: bool = False
    standby: int | None = None
    next_clients: dict[int, int] = field(default_factory=dict)
    handed: tuple[int, int] | None = None

    @property
    def seen(self) -> int:
        """The turn that it holds, or held last."""
        return self.machine.turn

    @property
    def draining(self) -> bool:
        """Whether it was told to give up its turn, and is about to."""
        return self.machine.state in DRAINS

    @property
    def holding(self) -> bool:
        """Whether it was told to hold its turn."""
        return self.machine.state in HOLDS

    @property
    def open(self) -> bool:
        """Whether it has a turn, and goes on. Its memory may still be on its way."""
        return self.machine.holds and not self.draining and not self.holding

    @property
    def spins(self) -> bool:
        """Whether its work in flight waits for other ranks."""
        return self.collective is not None and self.collective.spins(self.id)

    @property
    def waiting(self) -> bool:
        """Whether the daemon knows that it waits."""
        return bool(self.machine.numbers["is_wanted"])

    def register(self, device: str, now: float, *, may_wait: bool = True) -> None:
        """Connect, for the first time or to a new daemon. Orders of the old one are void."""
        self.now = now
        self.inbox.clear()
        self.numbers.clear()
        self.outbox.clear()
        # It does not wait for the answer of a daemon that is gone. It allocates.
        self.without = None
        if self.machine.state is not State.NEW:
            self._feed(Event.LOST, must_fill=self._must_fill, may_wait=may_wait)
        self.device = device
        self._feed(Event.GREET, waits=self._waits)
        self._feed(Event.WELCOME)

    def work(self) -> None:
        """Have something to run."""
        self.busy = True
        if self.machine.state is State.WATCHED:
            self.quiet_at = None
        if not self.gate_is_open:
            self._feed(Event.WORK)
        elif self.collective is not None:
            self.collective.launch(self.id)

    def rest(self, now: float) -> None:
        """Have nothing to run."""
        self.busy, self.now = False, now
        if self.machine.state is State.WATCHED:
            self.quiet_at = now + self.idle_seconds

    def allocate(self, memory: Memory) -> None:
        """Have this much memory from now on. Behind a closed gate it is nowhere yet."""
        memory = memory.as_kind(self.kind)
        if self.is_explicit and not self.gate_is_open and memory.swappable > self.memory.swappable:
            return  # It waits at the gate with that.
        if not self.open and not self.draining:
            gained = max(0, memory.swappable - self.memory.swappable)
            memory = replace(memory, swapped=memory.swapped + gained).as_kind(self.kind)
        self._have(memory)
        self._send(MemoryChanged(now=0.0, client=self.id, memory=self._told()))

    def use(self, seconds: float) -> None:
        """Claim to have been busy for some more seconds."""
        self.used += seconds
        self._send(Used(now=0.0, client=self.id, busy_seconds=self.used))

    def ask(self, memory: Memory, fresh: int = 0, *, for_context: bool = False) -> None:
        """Request this much memory. It counts as allocated until the answer says otherwise.

        The ``fresh`` part of it is used later. For a context, the answer comes when there is room.
        """
        self.without = self.memory
        self._have(memory.as_kind(self.kind))
        self.fresh += fresh
        self.ticket += 1
        told = self._told()
        self._send(
            MemoryChanged(
                now=0.0,
                client=self.id,
                memory=told,
                ticket=self.ticket,
                for_context=for_context,
            )
        )

    def touch(self) -> None:
        """Use all of its memory, in its turn. Memory that was nowhere is on the device then."""
        self._look()
        self.memory = replace(self.memory, swapped=0)
        self.out = self.fresh = 0
        self._send(MemoryChanged(now=0.0, client=self.id, memory=self._told()))

    def die(self) -> None:
        """End. Messages sent before still arrive."""
        if self.collective is not None:
            self.collective.leave(self.id)
        self._send(ClientLeft(now=0.0, client=self.id))

    def read(self, now: float) -> None:
        """Carry out the oldest order."""
        self.now = now
        order = self.inbox.popleft()
        match order:
            case Grant():
                self._feed(
                    Event.GRANT,
                    turn=order.turn,
                    bytes=order.fill_bytes,
                    missing=order.missing,
                    must_fill=self._must_fill,
                )
            case Room():
                self._feed(Event.ROOM, turn=order.turn, missing=order.missing)
            case Evict():
                self._feed(Event.EVICT, bytes=order.evict_bytes, there=self.memory.resident)
            case Trim():
                can_move = self.kind is Kind.MANAGED
                self._feed(Event.TRIM, bytes=order.trim_bytes, can_move=can_move)
            case Answer():
                self._take_answer(order)
            case Revoke():
                self._feed(
                    Event.REVOKE,
                    turn=order.turn,
                    is_urgent=order.urgency is Urgency.NOW,
                    idle_ns=round(order.idle_seconds * 1e9),
                    bytes=order.evict_bytes,
                    displaces=order.displace,
                )
            case Keep():
                self._feed(Event.KEEP, turn=order.turn)
            case Hold():
                self.number = self.numbers.popleft()
                self._feed(Event.HOLD, turn=order.turn)
            case StepOnce():
                self.number = self.numbers.popleft()
                self._feed(Event.STEP, turn=order.turn)
            case HandoverOrder():
                self.next_clients[order.descriptor] = order.next_client
                self._feed(
                    Event.HANDOVER,
                    turn=order.turn,
                    next_turn=order.next_turn,
                    descriptor=order.descriptor,
                )
            case Standby():
                self._feed(
                    Event.STANDBY,
                    turn=order.turn,
                    bytes=order.fill_bytes,
                    missing=order.missing,
                    descriptor=order.descriptor,
                    must_fill=self._must_fill,
                )
            case CancelHandover():
                self._feed(Event.CANCEL_HANDOVER, turn=order.from_turn)
            case _:
                raise AssertionError(order)
        self.notice(now)

    def notice(self, now: float) -> bool:
        """Take a turn that was handed over, if one was."""
        self.now = now
        if self.standby is None or not self.is_written(self.standby):
            return False
        # A gate that opens by itself does not look whether memory has to come.
        at_gate = self.machine.standby.name == "GATE" and not self.is_explicit
        self._feed(Event.HANDED, must_fill=self._must_fill and not at_gate)
        assert self.standby is None
        return True

    def catch_up(self, now: float) -> None:
        """Count the bytes that have moved by now, without a report."""
        self.now = now
        self._look()

    def give_up(self, now: float) -> None:
        """Finish the present order before the world expects it."""
        self.now = now
        closes = self.draining or self.machine.state is State.HOLDING
        if closes and self.tangled and self.busy:
            self.tangled -= 1
            if not self.holding:
                self.number = 0
            self._feed(Event.CANNOT_DRAIN)
        elif closes and not self.spins:
            self._end(Event.DRAINED)
        elif self.machine.state is State.WATCHED:
            self._end(Event.IDLE)

    @property
    def next_moment(self) -> float | None:
        """When its next own event is due."""
        moments = [None if self._never_drains else self.quiet_at]
        moments += [self.news_at, self.mover.done_at]
        if self.grows and self.mover.job is Job.RESTS:
            moments.append(self.now)
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def _never_drains(self) -> bool:
        """Whether others have to go on before it can drain."""
        closes = self.draining or self.machine.state is State.HOLDING
        return closes and self.spins and not (self.tangled and self.busy)

    def let_happen(self, now: float) -> None:
        """Do what is due by now."""
        self.now = now
        if self.news_at is not None and self.news_at <= now:
            self.news_at = None
            self._feed(Event.PROGRESS)
        done_at = self.mover.done_at
        if done_at is not None and done_at <= now:
            self._moved()
        if self.grows and self.mover.job is Job.RESTS:
            self._feed(Event.GREW)
        if self.quiet_at is not None and self.quiet_at <= now and not self._never_drains:
            self.give_up(now)

    def _moved(self) -> None:
        self._look()
        self.mover.job, self.news_at = Job.RESTS, None
        self._feed(Event.MOVED, must_fill=self._must_fill, there=self.memory.resident)

    @property
    def _must_fill(self) -> bool:
        return self.memory.swapped > 0 or self.mover.job is not Job.RESTS

    @property
    def _waits(self) -> bool:
        return self.busy and not self.gate_is_open

    def _end(self, event: Event) -> None:
        self._feed(
            event,
            waits=self.busy,
            there=self.memory.resident,
            away=self.memory.swapped if self.kind is Kind.MANAGED else 0,
        )

    def _feed(self, event: Event, **fields: Any) -> None:
        turn, holds = self.machine.turn, self.machine.holds
        before = self.machine.state
        result, actions = self.machine.feed(event, is_explicit=self.is_explicit, **fields)
        assert result is not Result.IMPOSSIBLE, f"{event.name} while {before.name}"
        assert not holds or self.machine.turn == turn, "two turns at once"
        if self.machine.state is not before:
            # A drain that has begun goes on, whatever becomes of the memory.
            self.quiet_at = self.quiet_at if before in DRAINS and self.draining else None
            self.grows = False
        for action in actions:
            self._perform(action)
        if self.gate_is_open and not self.machine.holds:
            assert self.machine.state is State.ALONE, "an open gate without a turn"
        if self.gate_is_open and self.is_explicit:
            assert not self.memory.swapped, "an open gate before memory that is away"

    def _perform(self, action: Action) -> None:
        match action.act:
            case Act.OPEN:
                self.gate_is_open = True
            case Act.CLOSE:
                self.gate_is_open = False
            case Act.WATCH:
                self.idle_seconds = action.bytes / 1e9
                self.quiet_at = None if self.busy else self.now + self.idle_seconds
            case Act.STEP:
                if self.busy and self.collective is not None:
                    self.collective.launch(self.id)
            case Act.DRAIN:
                self.quiet_at = self.now + self.drain
            case Act.AWAIT_GROWTH:
                self.grows = True
            case Act.ARM_GATE | Act.ARM_SESSION:
                self.standby = action.descriptor
            case Act.DISARM:
                self.standby = None
            case Act.DISARM_OR_BEGIN:
                if not self.notice(self.now):
                    self.standby = None
                    self._feed(Event.DISARMED, there=self.memory.resident)
            case Act.HAND_OVER:
                self.wake(action.descriptor)
                self.handed = self.next_clients[action.descriptor], action.turn
            case Act.ORDER_OUT:
                self._order(Job.MOVES_OUT, action.bytes)
                if self.machine.state is State.LEAVING:
                    self.news_at = self.now + self.mover.total / PACE / 2
            case Act.SET_MISSING:
                self.mover.set_missing(action.bytes, self.now)
            case Act.ORDER_MORE:
                self.memory = self.mover.more(action.bytes, self.memory)
            case Act.ORDER_AHEAD:
                self._order(Job.FILLS_AHEAD, action.bytes)
            case Act.ORDER_FILL:
                self._order(Job.FILLS, action.bytes)
            case Act.ORDER_GENTLY:
                self._order(Job.FILLS_GENTLY, 0)
            case Act.ORDER_RETURN:
                self._order(Job.RETURNS, 0)
            case Act.ORDER_REST:
                self._order(Job.RESTS, 0)
            case Act.DISPLACE:
                swapped = self.memory.swapped + action.bytes
                self.memory = replace(self.memory, swapped=swapped)
                self._put_on_host(action.bytes)
            case Act.COUNT_ALL_THERE:
                self.memory, self.out = replace(self.memory, swapped=self.fresh), 0
            case Act.HELLO | Act.WANT | Act.RELEASED | Act.ANSWER | Act.TELL_OUT | Act.TELL_IN:
                self._tell(action)
            case Act.TELL_CANNOT_DRAIN:
                self._answer(CannotDrain(now=0.0, client=self.id, turn=action.turn))
            case Act.TELL_HELD:
                waits = bool(action.value)
                self._answer(Held(now=0.0, client=self.id, turn=action.turn, waits=waits))

    def _order(self, job: Job, size: int) -> None:
        self._look()
        self.memory = self.mover.order(job, size, self.memory, self.now)
        self.news_at = None

    def _look(self) -> None:
        """Count the bytes that have moved, and how many of them are on the host."""
        out, into = self.mover.out_bytes, self.mover.in_bytes
        self.memory = self.mover.look(self.memory, self.now)
        self.fresh = min(self.fresh, self.memory.swapped)
        self._put_on_host(self.mover.out_bytes - out - (self.mover.in_bytes - into))

    def _told(self) -> Memory:
        """Its memory, with the part that is nowhere and the part that has pages on the host."""
        untouched = max(0, self.memory.swapped - self.mover.left - self.out)
        return replace(self.memory, untouched=untouched, kept=self.pages)

    def _put_on_host(self, size: int) -> None:
        # Memory that was freed on its way is nowhere.
        self.out = min(max(0, self.out + size), self.memory.swappable)
        self.pages = max(self.pages, self.out)

    def _tell(self, action: Action) -> None:
        match action.act:
            case Act.HELLO:
                self._join(action)
            case Act.WANT:
                self._send(Wanted(now=0.0, client=self.id, turn=action.turn))
            case Act.RELEASED:
                self._released(action)
            case Act.ANSWER:
                self._tell_moved(action.turn)
            case _:
                self._look()
                if self.mover.out_bytes or action.act is Act.TELL_OUT:
                    turn = self.machine.numbers["out_turn"]
                    self._tell_moved(turn, out_bytes=self.mover.out_bytes)
                if self.mover.in_bytes or action.act is Act.TELL_IN:
                    self._tell_moved(self.seen, in_bytes=self.mover.in_bytes)
                self.mover.out_bytes = self.mover.in_bytes = 0

    def _join(self, hello: Action) -> None:
        # Moves of the meantime do not concern this daemon.
        self.mover.out_bytes = self.mover.in_bytes = 0
        self._send(
            ClientJoined(
                now=0.0,
                client=self.id,
                owner=self.owner or f"owner {self.id % 3}",
                device=self.device,
                memory=self._told(),
                kind=self.kind,
                running=bool(hello.value & Hello.RESUMING),
                ungranted=bool(hello.value & Hello.UNGRANTED),
                turn=hello.turn,
                group=self.group,
                can_hold=bool(self.group),
            )
        )
        if hello.value & Hello.WANTS:
            self._send(Wanted(now=0.0, client=self.id, turn=hello.turn))

    def _released(self, action: Action) -> None:
        moved, self.mover.in_bytes = self.mover.in_bytes, 0
        next_client, turn = self.handed or (None, 0)
        self.handed = None
        self._send(
            Released(
                now=0.0,
                client=self.id,
                turn=action.turn,
                reason=REASONS[Why(action.value)],
                memory=self._told(),
                wants=self.waiting,
                moved_bytes=moved,
                seconds=moved / PACE,
                handed_to=next_client,
                handed_turn=turn,
                left=self.mover.left,
            )
        )

    def _tell_moved(self, turn: int, out_bytes: int = 0, in_bytes: int = 0) -> None:
        self._send(
            Moved(
                now=0.0,
                client=self.id,
                turn=turn,
                memory=self._told(),
                out_bytes=out_bytes,
                in_bytes=in_bytes,
                seconds=(out_bytes + in_bytes) / PACE,
                left=self.mover.left,
            )
        )

    def _take_answer(self, answer: Answer) -> None:
        assert answer.ticket == self.ticket, "an answer to another question"
        assert self.without is not None, "answered twice"
        if answer.verdict is not Verdict.YES:
            kept, self.memory, self.fresh = self.memory, self.without, 0
            # Memory that has moved out in the meantime stays out, as far as it exists.
            self.allocate(replace(self.memory, swapped=kept.swapped))
        elif answer.missing and self.kind is Kind.MANAGED:
            self._feed(Event.GROW, missing=answer.missing)
        elif not self.open and not self.draining:
            # The gate has closed before it could allocate.
            gained, memory = self.memory, self.without
            swapped = gained.swapped - self.fresh
            self.memory = replace(memory, swapped=min(memory.swappable, swapped))
            self.allocate(replace(gained, swapped=self.memory.swapped))
        self.without = None

    def _have(self, memory: Memory) -> None:
        self.memory = memory
        # Memory that was freed does not leave any more.
        self.mover.keep(memory)
        self.out = min(self.out, memory.swappable)
        self.pages = min(self.pages, memory.swappable)

    def _answer(self, event: ClientEvent) -> None:
        number = self.number
        if number:
            event = Numbered(now=0.0, client=self.id, event=event, number=number)
        self._send(event)

    def _send(self, event: ClientEvent) -> None:
        self.outbox.append(event)
