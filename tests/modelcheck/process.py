"""One process: the real machine and its performer, as values that never change.

Its next state is a function of its state and of the step, so every step is computed once. It has no
clock: work drains, memory arrives and rests end when the search says so.
"""

from collections import deque
from copy import copy
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from nvshare.core.effects import Effect, Hold, StepOnce
from nvshare.core.events import ClientEvent
from nvshare.core.memory import Kind, Memory
from nvshare.machine import Act, Action, Event, Job, State
from tests.property.mover import PACE
from tests.property.program import DRAINS, Program

from .messages import Closed, Renumber, Turns, Welcome, anonymous

# By then, every move is complete.
_LONG_AGO = -1e6
# The states in which the machine hears a thread at the gate.
_HEARD = (State.HELD, State.CLOSED, State.LEAVING, State.FETCHING)
# The states in which it waits for work in flight to end.
_CLOSES = (*DRAINS, State.HOLDING)
_FILLS = (State.FILLING, State.GROWING, State.STOPPING, State.HOLDING, State.HELD)


class Do(Enum):
    """The steps of a process by itself."""

    CONNECT = "connects"
    GIVE_UP = "finds no daemon, and waits for none"
    WORK = "has something to run"
    REST = "has nothing to run any more"
    LAUNCH = "launches its part of a collective"
    DRAIN = "has nothing in flight any more"
    IDLE = "has rested for long enough"
    MOVE = "has moved its memory"
    PART = "has moved a part of its memory"
    NOTICE = "is woken by its predecessor"
    READ = "reads"


class Body(Program):
    """The program of the property tests. Its session and its gate are two threads here."""

    depth = 0
    # Whether it was let pass one call behind its closed gate.
    steps = False

    def _feed(self, event: Event, **fields: Any) -> None:
        self.depth += 1
        super()._feed(event, **fields)
        self.depth -= 1

    def notice(self, now: float) -> bool:
        """Take a turn that was handed over. Having read a message is no reason to look."""
        return super().notice(now) if self.depth else False

    def look_at_standby(self) -> None:
        """Take a turn that was handed over, at any moment."""
        super().notice(0.0)

    def connect(self) -> None:
        """Greet the daemon."""
        self._feed(Event.GREET, waits=self._waits)

    def read(self, now: float) -> None:
        """Carry out the oldest order."""
        if isinstance(self.inbox[0], Hold | StepOnce):
            # The world itself drops answers that are void.
            self.numbers.append(0)
        if isinstance(self.inbox[0], Welcome):
            self._feed(Event.WELCOME)
        elif isinstance(self.inbox[0], Closed):
            self.lose(may_wait=True)
        else:
            super().read(now)

    def lose(self, *, may_wait: bool) -> None:
        """Lose the daemon. A turn that was handed over before has begun."""
        self.look_at_standby()
        self.outbox.clear()
        self._feed(Event.LOST, must_fill=self._must_fill, may_wait=may_wait)
        self.outbox.clear()

    def move(self) -> None:
        """Complete the present move."""
        self.mover.since = _LONG_AGO
        self._moved()
        self.mover.since = 0.0

    def move_a_part(self) -> None:
        """Move one unit out, and report it."""
        self.mover.since = -1 / PACE
        self._feed(Event.PROGRESS)

    def _perform(self, action: Action) -> None:
        self.steps |= action.act is Act.STEP
        super()._perform(action)

    def knock(self) -> None:
        """Be heard at the gate, if a thread waits there and the daemon does not know of it."""
        if self._waits and self.machine.state in _HEARD and not self.machine.is_wanted:
            self._feed(Event.WORK)


class Outcome(NamedTuple):
    """The result of a step: the new process, its messages, and the client that it wakes.

    Also whether a call has passed its closed gate, because it was told to step.
    """

    process: "Process"
    sent: tuple[ClientEvent, ...]
    wakes: tuple[int, ...]
    has_stepped: bool


@dataclass(eq=False)
class Process:
    """A process at one moment."""

    body: Body
    # Its gate was opened because there was no daemon, and has not been closed since; or its memory
    # comes in for that.
    is_excused: bool
    key: tuple[Any, ...]
    number: int
    outcomes: dict[Any, Outcome]

    @cached_property
    def state(self) -> State:
        """The state of its machine."""
        return self.body.machine.state

    @cached_property
    def is_open(self) -> bool:
        """Whether calls pass its gate."""
        return self.body.gate_is_open

    @cached_property
    def holds(self) -> bool:
        """Whether it has a turn."""
        return self.body.machine.holds

    @cached_property
    def was_welcome(self) -> bool:
        """Whether it was the client of some daemon, and so may have memory on the GPU."""
        return bool(self.body.machine.numbers["was_welcome"])

    @cached_property
    def waits(self) -> bool:
        """Whether it has something to run and cannot."""
        return self.body.busy and not self.is_open

    @cached_property
    def on_device(self) -> int:
        """How much of its memory is on the GPU."""
        return self.body.memory.resident + self.body.mover.left

    @cached_property
    def standby(self) -> int | None:
        """The descriptor by which it may be woken."""
        return self.body.standby

    @cached_property
    def next_client(self) -> int:
        """The client to wake at the end of its turn, or 0."""
        passes = self.body.machine.numbers["next_descriptor"]
        return self.body.next_clients.get(passes, 0) if passes >= 0 else 0

    @cached_property
    def passes(self) -> int | None:
        """The descriptor to write to at the end of its turn."""
        return self.body.machine.numbers["next_descriptor"] if self.next_client else None

    @cached_property
    def turns(self) -> Turns:
        """The turns that it knows, each with its owner."""
        numbers = self.body.machine.numbers
        own = ("turn", "out_turn", "standby_turn")
        known = [(0, numbers[name]) for name in own]
        if self.next_client:
            known.append((self.next_client, numbers["next_turn"]))
        return tuple(known)

    @cached_property
    def actions(self) -> tuple[Do, ...]:
        """Its possible own steps now, except being woken."""
        body, machine = self.body, self.body.machine
        can = {
            Do.WORK: not body.busy,
            # A thread that waits at the gate does not go away.
            Do.REST: body.busy and body.gate_is_open,
            Do.LAUNCH: body.busy and body.gate_is_open and bool(body.group),
            Do.DRAIN: machine.state in _CLOSES,
            Do.IDLE: machine.state is State.WATCHED and not body.busy,
            Do.MOVE: body.mover.done_at is not None,
        }
        return tuple(do for do, able in can.items() if able)

    def renumbered(self, own: int, turn: Renumber, descriptors: dict[int, int]) -> "Process":
        """Return the same process with other numbers."""
        body = _clone(self.body, is_written=False)[0]
        raw = body.machine._machine
        raw.turn, raw.out_turn = turn(own, raw.turn), turn(own, raw.out_turn)
        raw.standby_turn = turn(own, raw.standby_turn)
        if self.next_client:
            raw.next_turn = turn(self.next_client, raw.next_turn)
            raw.next_descriptor = descriptors[raw.next_descriptor]
            body.next_clients = {raw.next_descriptor: self.next_client}
        if body.standby is not None:
            body.standby = descriptors[body.standby]
        return _freeze(body, is_excused=self.is_excused)


_KNOWN: dict[tuple[Any, ...], Process] = {}


def new_process(
    size: int, gpu: str, group: str = "", *, is_explicit: bool = False, is_busy: bool = False
) -> Process:
    """Return a process that has just begun. Its memory is nowhere before its first turn."""
    memory = Memory(allocated=size, swapped=size)
    body = Body(0, Kind.MANAGED, memory, 0.0, _nobody, _never, is_explicit=is_explicit)
    body.device, body.group, body.busy = gpu, group, is_busy
    return _freeze(body, is_excused=False)


def act(
    process: Process, do: Do, order: Effect | None = None, *, is_written: bool = False
) -> Outcome:
    """Return the result of a step. ``is_written``: its standby's descriptor is readable."""
    key = (do, order, is_written)
    outcome = process.outcomes.get(key)
    if outcome is None:
        outcome = process.outcomes[key] = _act(process, do, order, is_written=is_written)
    return outcome


def _act(process: Process, do: Do, order: Effect | None, *, is_written: bool) -> Outcome:
    body, wakes = _clone(process.body, is_written=is_written)
    match do:
        case Do.CONNECT:
            body.connect()
        case Do.GIVE_UP:
            body.lose(may_wait=False)
        case Do.WORK:
            body.busy = True
        case Do.LAUNCH:
            pass
        case Do.REST:
            body.rest(0.0)
        case Do.DRAIN | Do.IDLE:
            body.give_up(0.0)
        case Do.MOVE:
            body.move()
        case Do.PART:
            body.move_a_part()
        case Do.NOTICE:
            body.look_at_standby()
        case Do.READ:
            assert order is not None
            body.inbox.append(order)
            body.read(0.0)
    body.knock()
    opened = body.gate_is_open and not process.is_open
    lost = do is Do.GIVE_UP or isinstance(order, Closed)
    opens = body.gate_is_open or body.machine.state is State.RETURNING
    is_excused = opens and (process.is_excused or lost or (opened and _is_alone(body)))
    sent = tuple(body.outbox)
    stepped, body.steps = body.steps, False
    return Outcome(_freeze(body, is_excused=is_excused), sent, tuple(wakes), stepped)


def _is_alone(body: Body) -> bool:
    return body.machine.state is State.ALONE


def _clone(body: Body, *, is_written: bool) -> tuple[Body, list[int]]:
    twin, wakes = Body.__new__(Body), list[int]()
    twin.__dict__.update(body.__dict__)
    twin.machine, twin.mover = body.machine.copy(), copy(body.mover)
    twin.inbox, twin.outbox, twin.numbers = deque(), deque(), deque()
    twin.next_clients = dict(body.next_clients)
    twin.wake = wakes.append
    twin.is_written = (lambda _: is_written) if is_written else _never
    return twin, wakes


def _nobody(_: int) -> None:
    pass


def _never(_: int) -> bool:
    return False


def _freeze(body: Body, *, is_excused: bool) -> Process:
    """Return the process with this body. Values without a meaning are forgotten first."""
    raw, mover = body.machine._machine, body.mover
    body.inbox.clear()
    body.outbox.clear()
    body.handed, body.idle_seconds, body.quiet_at, body.news_at = None, 0.0, None, None
    body.number = 0
    raw.idle_ns = 0
    if not raw.standby:
        raw.standby_turn = raw.standby_fill = raw.standby_missing = 0
        body.standby = None
    if raw.next_descriptor < 0:
        raw.next_turn = 0
    kept = raw.next_descriptor
    body.next_clients = {fd: client for fd, client in body.next_clients.items() if fd == kept}
    if raw.state not in _FILLS:
        raw.fill = raw.missing = 0
    if mover.job is not Job.MOVES_OUT and not mover.out_bytes:
        raw.out_turn = 0
    if mover.job is Job.RESTS:
        mover.total = mover.counted = 0
        mover.since = 0.0
    if mover.job is not Job.FILLS:
        mover.missing = 0
    numbers = body.machine.numbers
    moves = (mover.job, mover.total, mover.counted, mover.out_bytes, mover.in_bytes, mover.missing)
    own = (body.busy, body.gate_is_open, body.memory, body.fresh, body.out, body.pages)
    fixed = (body.is_explicit, body.tangled, is_excused, body.device, body.group)
    others = (tuple(body.next_clients.items()), body.standby)
    key = (tuple(numbers.values()), moves, own, fixed, others)
    process = _KNOWN.get(key)
    if process is None:
        shape = (key[:-1], body.standby)
        process = _KNOWN[key] = Process(body, is_excused, key, _number(shape), {})
    return process


_NUMBERS: dict[Any, int] = {}


def _number(shape: Any) -> int:
    """Return a small number for a value, the same for equal values."""
    return _NUMBERS.setdefault(shape, len(_NUMBERS))


@dataclass(frozen=True)
class _Shape:
    """Keeps the numbers of messages apart from those of processes."""

    message: Any


def message_number(message: Any) -> int:
    """Return a small number for a message, the same for messages that differ in names only."""
    return _number(_Shape(anonymous(message)))
