"""The gate of one program: performs the actions of nvshare.machine on the simulated GPU.

Orders of the core and steps of the program become inputs of the machine. gate_reports.py sends the
machine's reports to the core. What the program does while the gate is open is up to the program.
"""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nvshare.core.effects import (
    CancelHandover,
    Effect,
    Evict,
    Grant,
    Handover,
    Hold,
    Keep,
    Revoke,
    Room,
    StepOnce,
    Trim,
    Urgency,
)
from nvshare.core.events import ClientLeft
from nvshare.lab.sim.gate_reports import GateReports
from nvshare.lab.sim.mover import Mover
from nvshare.lab.sim.record import Kind
from nvshare.machine import Act, Action, Event, Machine, Result, State

if TYPE_CHECKING:
    from nvshare.lab.sim.program import SimulatedProgram
    from nvshare.lab.sim.site import Site

_RUNS = (State.OPEN, State.WATCHED)
_DRAINS = (State.CLOSING, State.STOPPING, State.HOLDING)
_FILLS = (State.FILLING, State.HOLDING, State.HELD)


class Gate:
    """One client: its machine, and the performance of the machine's actions."""

    def __init__(self, site: "Site", key: int, program: "SimulatedProgram") -> None:
        self._site = site
        self._key = key
        self._program = program
        self._record = site.records[key]
        self._machine = Machine()
        self._mover = Mover(site, key, self._moved, self._moves)
        self._reports = GateReports(site, key, self._machine, self._mover)
        # Inputs that come while actions are being performed wait until all are done.
        self._inputs: deque[tuple[Event, Callable[[], dict[str, Any]]]] = deque()
        self._performs = False
        # Calls pass: work may be in flight.
        self._ready = False
        # The program's step after the actions just performed: begin, or be watched.
        self._then: Callable[[], None] | None = None
        # The rest that is being watched, if any, and how long it has to be.
        self._rest: object = None
        self._idle_seconds = 0.0
        self._standby = -1
        self._feed(Event.GREET)
        self._feed(Event.WELCOME)

    @property
    def holds(self) -> bool:
        """Whether the program may have work in flight."""
        return self._machine.holds

    @property
    def draining(self) -> bool:
        """Whether the turn ends, or is held, when nothing is in flight any more."""
        return self._machine.state in _DRAINS

    def may_pass(self) -> bool:
        """Whether work can start now. If not, the program is called when it can."""
        if not self._ready:
            self._feed(Event.WORK)
        return self._ready and not self.draining

    def obey(self, order: Effect) -> None:
        """Carry out an order."""
        match order:
            case Grant():
                self._feed(
                    Event.GRANT,
                    turn=order.turn,
                    bytes=order.fill_bytes,
                    missing=order.missing,
                    must_fill=self._mover.must_fill(order.missing),
                )
            case Room():
                self._feed(Event.ROOM, turn=order.turn, missing=order.missing)
            case Evict():
                self._feed(Event.EVICT, bytes=order.evict_bytes, there=self._mover.there)
            case Trim():
                self._feed(Event.TRIM, bytes=order.trim_bytes, can_move=True)
            case Revoke():
                # Displaced memory leaves over the same bus at the same time: here it just leaves.
                self._feed(
                    Event.REVOKE,
                    turn=order.turn,
                    is_urgent=order.urgency is Urgency.NOW,
                    idle_ns=round(order.idle_seconds * 1e9),
                    bytes=order.evict_bytes,
                )
            case Keep():
                self._feed(Event.KEEP, turn=order.turn)
            case Hold():
                self._feed(Event.HOLD, turn=order.turn)
            case StepOnce():
                self._feed(Event.STEP, turn=order.turn)
            case CancelHandover():
                self._feed(Event.CANCEL_HANDOVER, turn=order.from_turn)

    def plan_handover(self, turn: int, next_turn: int, descriptor: int) -> None:
        """Note the descriptor to write to at the end of this turn."""
        self._feed(Event.HANDOVER, turn=turn, next_turn=next_turn, descriptor=descriptor)

    def stand_by(self, plan: Handover, descriptor: int) -> None:
        """Note the descriptor that is written to when a turn is handed over to this program."""
        self._feed(
            Event.STANDBY,
            turn=plan.turn,
            bytes=plan.fill_bytes,
            missing=plan.missing,
            descriptor=descriptor,
            must_fill=self._mover.must_fill(plan.missing),
        )

    def handed(self, descriptor: int) -> None:
        """Another program has written to this descriptor."""
        if descriptor == self._standby:
            missing = self._machine.standby_missing
            self._feed(Event.HANDED, must_fill=self._mover.must_fill(missing))

    def grow(self, missing: int) -> None:
        """The program has grown: nothing is launched until there is room for all its memory."""
        self._feed(Event.GROW, missing=missing)
        if self._machine.state is State.GROWING:
            self._feed(Event.GREW)

    def used_up(self) -> None:
        """The program has nothing in flight, and has to wait for time of its share."""
        if self._ready:
            self._end(Event.USED_UP)

    def rest(self) -> None:
        """The program has nothing in flight and nothing to submit, from now on."""
        if self._ready and self._machine.state is State.WATCHED:
            rest = self._rest = object()
            self._site.after(self._idle_seconds, lambda: self._has_rested(rest))

    def _has_rested(self, rest: object) -> None:
        watched = self._rest is rest and self._machine.state is State.WATCHED
        if watched and not self._program.has_work:
            self._end(Event.IDLE)

    def drained(self) -> None:
        """Nothing is in flight any more."""
        self._end(Event.USED_UP if self._program.is_used_up else Event.DRAINED)

    def close_for_good(self) -> None:
        """The program ends."""
        if self.holds:
            self._site.open_bytes_changed(-self._site.holding(self._key).allocated)
        self._ready = False
        self._machine = Machine()
        self._reports = GateReports(self._site, self._key, self._machine, self._mover)
        self._mover.rest()
        self._site.send(ClientLeft(now=self._site.now, client=self._key))

    def tell_progress(self) -> None:
        """Report the memory that has left by now, if any is on its way out."""
        self._mover.look()

    def _moved(self) -> None:
        self._feed(Event.MOVED, there=self._mover.there)

    def _moves(self) -> None:
        self._feed(Event.PROGRESS)

    def _end(self, event: Event) -> None:
        self._queue(event, self._facts_of_an_end)

    def _facts_of_an_end(self) -> dict[str, Any]:
        waits = self._program.has_work and not self._program.is_used_up
        return {"waits": waits, "there": self._mover.there}

    def _feed(self, event: Event, **fields: Any) -> None:
        self._queue(event, lambda: fields)

    def _queue(self, event: Event, facts: Callable[[], dict[str, Any]]) -> None:
        self._inputs.append((event, facts))
        if self._performs:
            return
        self._performs = True
        while self._inputs:
            event, facts = self._inputs.popleft()
            self._take(event, facts())
        self._performs = False
        self._go_on()

    def _take(self, event: Event, fields: dict[str, Any]) -> None:
        turn, before, held = self._machine.turn, self._machine.state, self.holds
        result, actions = self._machine.feed(event, **fields)
        if result is Result.IMPOSSIBLE:
            raise RuntimeError(f"{self._record.name}: {event.name} while {before.name}")
        begins = self._machine.turn != turn
        if begins:
            self._begin()
        elif held and not self.holds:
            self._finish()
        for action in actions:
            self._perform(action, begins=begins)

    def _begin(self) -> None:
        self._record.turns += 1
        self._record.end(Kind.WAIT, self._site.now)
        self._site.open_bytes_changed(self._site.holding(self._key).allocated)

    def _finish(self) -> None:
        """The gate is closed, before another program gets a turn.

        The core judges the turn by the memory moved meanwhile, even of programs about to stop.
        """
        self._site.tell_progress(self._key)
        self._ready = False
        self._record.released += 1
        self._record.end(Kind.RUN, self._site.now)
        self._site.open_bytes_changed(-self._site.holding(self._key).allocated)

    def _perform(self, action: Action, *, begins: bool) -> None:
        match action.act:
            case Act.OPEN:
                self._after_its_way(self._open, begins=begins)
            case Act.ORDER_FILL:
                self._after_its_way(lambda: self._fill(action.bytes), begins=begins)
            case Act.CLOSE if self._machine.state is State.GROWING:
                # Nothing is in flight: it was about to allocate.
                self._ready = False
                self._record.end(Kind.RUN, self._site.now)
            case Act.WATCH:
                self._idle_seconds = action.bytes / 1e9
                self._then = self._then or self._look
            case Act.STEP:
                self._step()
            case Act.DRAIN:
                self._drain()
            case Act.CONTEND:
                self._program.is_wanted(bool(action.value))
            case Act.ARM_GATE | Act.ARM_SESSION:
                self._standby = action.descriptor
            case Act.DISARM:
                self._standby = -1
            case Act.DISARM_OR_BEGIN:
                # The other program writes to it between two events.
                self._standby = -1
                self._feed(Event.DISARMED, there=self._mover.there)
            case Act.HAND_OVER:
                self._reports.handed = self._site.wake(action.descriptor), action.turn
            case Act.ORDER_OUT:
                self._mover.rest()
                self._mover.leave(action.bytes)
            case Act.ORDER_MORE:
                self._mover.leave(action.bytes)
            case Act.ORDER_AHEAD:
                self._mover.fill(action.bytes)
            case Act.ORDER_REST:
                self._mover.rest()
                if self._machine.state is State.FETCHING:
                    self._moved()
            case Act.SET_MISSING:
                self._mover.set_missing(action.bytes)
            case Act.WANT | Act.RELEASED | Act.ANSWER | Act.TELL_OUT | Act.TELL_IN:
                self._reports.tell(action)
            case Act.TELL_HELD:
                self._be_held(action)
            case Act.CLOSE | Act.DROP | Act.HELLO | Act.AWAIT_GROWTH:
                # Other descriptors close when the turn ends; here they are numbers. The program
                # itself says hello, and has grown already.
                pass
            case _:
                raise RuntimeError(f"{self._record.name}: {action.act.name} is not simulated")

    def _after_its_way(self, call: Callable[[], None], *, begins: bool) -> None:
        """Call now, but delay a turn that begins by its way to the program."""
        if not begins:
            call()
            return
        turn = self._machine.turn

        def arrive() -> None:
            if self.holds and not self.draining and self._machine.turn == turn:
                call()

        self._site.after(self._site.latency, arrive)

    def _open(self) -> None:
        if self._machine.state in _RUNS and not self._ready:
            self._ready = True
            self._record.begin(Kind.RUN, self._site.now)
            self._then = self._start
        if not self._performs:
            self._go_on()

    def _go_on(self) -> None:
        then, self._then = self._then, None
        if then and self._ready and self._machine.state in _RUNS:
            then()

    def _start(self) -> None:
        if self._program.has_work and not self._program.is_used_up:
            self._program.start()
        else:
            self._look()

    def _look(self) -> None:
        """Watch from now on whether the program rests."""
        if self._program.is_used_up:
            self.used_up()
        elif not self._program.has_work:
            self.rest()

    def _fill(self, size: int) -> None:
        if self._machine.state in _FILLS:
            self._mover.fill(size)

    def _be_held(self, action: Action) -> None:
        """Nothing is in flight, and the turn goes on."""
        if self._ready:
            self._ready = False
            self._record.end(Kind.RUN, self._site.now)
        self._reports.held(action)

    def _step(self) -> None:
        """Let the program begin with its work at the gate. It drains at once."""
        if self._program.has_work and not self._program.is_used_up:
            self._ready = True
            self._record.begin(Kind.RUN, self._site.now)
            self._program.start()

    def _drain(self) -> None:
        if not self._ready:
            self._end(Event.DRAINED)
        elif self._program.is_used_up:
            self.used_up()
        else:
            self._program.drain()
