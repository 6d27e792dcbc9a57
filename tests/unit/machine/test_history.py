"""Any history that Hypothesis can generate, on a client that performs the machine's actions."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from nvshare.machine import Act, Action, Event, Job, Machine, Result, State

SIZES = st.sampled_from([0, 3, 40, 1000])
WHOLE = 100


class Client(RuleBasedStateMachine):
    """A daemon that keeps to the rules, and a program that may do anything."""

    is_explicit = False

    def __init__(self) -> None:
        super().__init__()
        self.machine = Machine()
        self.gate_is_open = False
        self.fills_beside = False
        self.is_refused = False
        # Bytes away, and on their way out.
        self.away = 0
        self.leaving = 0
        self.can_move = True
        self.last_turn = 0
        # The turn that the daemon believes held; None: it has heard that there is none.
        self.held: int | None = None
        # Descriptors that were given; those not closed yet; and the one that is armed.
        self.descriptors = 0
        self.alive: set[int] = set()
        self.armed: int | None = None
        self.armed_at_gate = False
        self.owes_left = False
        self.waits = False
        # The daemon's knowledge of threads that wait at the held gate.
        self.told_held: bool | None = None

    # The daemon.

    @property
    def is_welcome(self) -> bool:
        return self.machine.state > State.WAITING

    @rule(refuses=st.booleans(), may_wait=st.booleans())
    def lose(self, refuses: bool, may_wait: bool) -> None:
        had_been = self.machine.numbers["was_welcome"] or self.machine.state is not State.NEW
        refuses, must_fill = refuses and not had_been, self.must_fill
        waits = may_wait and State.WAITING <= self.machine.state < State.FILLING
        # The memory of a turn goes on coming, and that of an earlier one.
        self.fills_beside = not self.is_explicit
        self.feed(Event.LOST, refuses=refuses, must_fill=must_fill, may_wait=may_wait)
        is_short = self.is_explicit and must_fill and not refuses
        assert self.is_refused == refuses
        assert self.gate_is_open == (not refuses and not is_short and not waits)
        assert (self.machine.state is State.WAITING) == waits
        self.held, self.owes_left = None, False

    @precondition(lambda self: not self.is_welcome)
    @rule(moves=st.booleans())
    def come_back(self, moves: bool) -> None:
        resumes = self.machine.state is State.ALONE
        self.feed(Event.GREET, waits=self.waits)
        if moves:
            self.moved(whole=True)
        self.feed(Event.WELCOME)
        self.held = self.machine.turn if resumes else None
        assert self.gate_is_open == resumes

    @precondition(lambda self: self.is_welcome and self.held is None)
    @rule(size=SIZES, missing=SIZES, opens=st.booleans())
    def grant(self, size: int, missing: int, opens: bool) -> None:
        if self.machine.holds:
            return  # The holder before has woken it, and the daemon will hear of that.
        if self.armed_at_gate and self.armed is not None and opens:
            self.gate_is_open = True  # At this very moment, and unnoticed.
        self.last_turn += 1
        self.held = self.last_turn
        self.feed(
            Event.GRANT,
            turn=self.last_turn,
            bytes=size,
            missing=missing,
            must_fill=self.must_fill,
        )
        assert self.machine.turn == self.last_turn

    @precondition(lambda self: self.is_welcome)
    @rule()
    def grant_again(self) -> None:
        before = self.machine.numbers
        self.feed(Event.GRANT, turn=self.machine.turn, must_fill=True)
        assert self.machine.numbers == before

    @precondition(lambda self: self.is_welcome and self.held is None)
    @rule(size=SIZES)
    def stand_by(self, size: int) -> None:
        if not self.machine.holds:
            self.last_turn += 1
            self.feed(
                Event.STANDBY,
                turn=self.last_turn,
                bytes=size,
                descriptor=self.give(),
                must_fill=self.must_fill,
            )

    @precondition(lambda self: self.is_welcome)
    @rule(ahead=st.sampled_from([0, 0, 0, -1, 1]))
    def plan_handover(self, ahead: int) -> None:
        turn = max(0, self.machine.turn + ahead)
        self.feed(Event.HANDOVER, turn=turn, next_turn=turn + 1, descriptor=self.give())

    @precondition(lambda self: self.is_welcome)
    @rule()
    def cancel_handover(self) -> None:
        self.feed(Event.CANCEL_HANDOVER, turn=self.machine.turn)

    @precondition(lambda self: self.is_welcome)
    @rule(
        urgent=st.booleans(),
        size=SIZES,
        displaces=st.booleans(),
        ahead=st.sampled_from([0, 0, 0, -1]),
    )
    def revoke(self, urgent: bool, size: int, displaces: bool, ahead: int) -> None:
        self.feed(
            Event.REVOKE,
            turn=max(0, self.machine.turn + ahead),
            is_urgent=urgent,
            bytes=size,
            displaces=displaces,
            idle_ns=5,
        )

    @precondition(lambda self: self.is_welcome)
    @rule()
    def keep(self) -> None:
        self.feed(Event.KEEP, turn=self.machine.turn)

    @precondition(lambda self: self.is_welcome)
    @rule(ahead=st.sampled_from([0, 0, 0, -1]))
    def hold(self, ahead: int) -> None:
        self.feed(Event.HOLD, turn=max(0, self.machine.turn + ahead))

    @precondition(lambda self: self.is_welcome)
    @rule(ahead=st.sampled_from([0, 0, 0, -1]))
    def step(self, ahead: int) -> None:
        self.feed(Event.STEP, turn=max(0, self.machine.turn + ahead))

    @precondition(lambda self: self.machine.state is State.HOLDING)
    @rule()
    def is_held(self) -> None:
        turn, away = self.machine.turn, self.away
        self.feed(Event.DRAINED, waits=self.waits, there=self.there, away=self.away)
        assert (self.machine.state, self.machine.turn) == (State.HELD, turn)
        assert (self.told_held, self.away) == (self.waits, away)

    @precondition(lambda self: self.is_welcome)
    @rule(missing=SIZES)
    def room(self, missing: int) -> None:
        # In an open turn: memory that left for a program that has ended may come back in bulk.
        self.fills_beside = self.gate_is_open and not self.is_explicit
        self.feed(Event.ROOM, turn=self.machine.turn, missing=missing)

    @precondition(lambda self: self.is_welcome)
    @rule(size=SIZES, turn_has_come=st.booleans())
    def evict(self, size: int, turn_has_come: bool) -> None:
        self.turn_has_come = turn_has_come
        self.feed(Event.EVICT, bytes=size, there=self.there)

    @precondition(lambda self: self.is_welcome)
    @rule(size=SIZES)
    def fill(self, size: int) -> None:
        before = self.machine.state
        self.feed(Event.FILL, bytes=size, away=self.away)
        assert self.machine.holds == (before >= State.FILLING)

    @precondition(lambda self: self.is_welcome)
    @rule(size=SIZES)
    def trim(self, size: int) -> None:
        self.feed(Event.TRIM, bytes=size, can_move=self.can_move)

    @precondition(lambda self: self.is_welcome)
    @rule(missing=SIZES)
    def grow(self, missing: int) -> None:
        self.feed(Event.GROW, missing=missing)

    # The program.

    @precondition(lambda self: self.armed is not None)
    @rule()
    def hand_over(self) -> None:
        if self.armed_at_gate:
            self.gate_is_open = True
        self.feed(Event.HANDED, must_fill=self.must_fill and not self.armed_at_gate)
        assert self.machine.holds

    @rule()
    def work(self) -> None:
        self.waits = not self.gate_is_open
        self.feed(Event.WORK)

    @precondition(lambda self: not self.machine.holds)
    @rule(size=st.integers(1, WHOLE))
    def allocate(self, size: int) -> None:
        """Memory allocated without a turn is away. Explicit memory is not: it is waited for."""
        if not self.is_explicit:
            self.away = min(WHOLE, self.away + size)

    @rule()
    def used_up(self) -> None:
        self.feed(Event.USED_UP, waits=self.waits, there=self.there, away=self.away)

    @precondition(lambda self: self.machine.state in (State.CLOSING, State.STOPPING))
    @rule(sure=st.booleans())
    def drain(self, sure: bool) -> None:
        # If the work in flight is unknown, no memory may leave that it could need.
        there = self.there if sure or not self.is_explicit else 0
        self.feed(Event.DRAINED, waits=self.waits, there=there, away=self.away)
        assert not self.machine.holds
        assert there or not self.is_explicit or not self.leaving

    @precondition(lambda self: self.machine.state in (State.CLOSING, State.STOPPING, State.HOLDING))
    @rule()
    def cannot_drain(self) -> None:
        turn, state = self.machine.turn, self.machine.state
        # The machine uses this number only while it holds.
        is_short = state is State.HOLDING and bool(self.machine.numbers["is_short"])
        has_to_fill = state is State.STOPPING or is_short
        self.feed(Event.CANNOT_DRAIN)
        assert self.machine.turn == turn
        assert self.machine.holds
        assert self.gate_is_open == (not has_to_fill)

    @precondition(lambda self: self.machine.state is State.WATCHED)
    @rule()
    def rest(self) -> None:
        self.feed(Event.IDLE, there=self.there, away=self.away)
        assert not self.machine.holds

    @precondition(lambda self: self.machine.state is State.GROWING and not self.leaving)
    @rule()
    def grew(self) -> None:
        self.feed(Event.GREW)

    @precondition(lambda self: self.leaving > 1)
    @rule()
    def progress(self) -> None:
        self.leaving //= 2
        self.feed(Event.PROGRESS)

    @rule(whole=st.booleans())
    def moved(self, whole: bool) -> None:
        self.leaving = 0
        if self.machine.job in (Job.FILLS, Job.FILLS_GENTLY, Job.RETURNS):
            self.away = 0 if whole or not self.is_explicit else self.away // 2
        elif self.machine.job is Job.FILLS_AHEAD:
            self.away = 0 if whole else self.away // 2
        self.feed(Event.MOVED, must_fill=self.is_explicit and self.away > 0, there=self.there)

    # The performer.

    @property
    def there(self) -> int:
        return WHOLE - self.away if self.can_move else 0

    @property
    def must_fill(self) -> bool:
        return self.away > 0 or self.machine.job is not Job.RESTS

    def give(self) -> int:
        self.descriptors += 1
        self.alive.add(self.descriptors)
        return self.descriptors

    def feed(self, event: Event, **fields: Any) -> None:
        before = self.machine.numbers
        result, actions = self.machine.feed(event, is_explicit=self.is_explicit, **fields)
        assert result is not Result.IMPOSSIBLE, (State(before["state"]), event)
        if result is Result.VOID:
            assert self.machine.numbers == before
        for action in actions:
            self.perform(action)

    def perform(self, action: Action) -> None:
        match action.act:
            case Act.OPEN:
                self.gate_is_open, self.is_refused, self.waits = True, False, False
            case Act.CLOSE:
                self.gate_is_open = self.is_refused = False
            case Act.STEP:
                # A call that passes must find its memory.
                assert self.machine.job is not Job.FILLS
                assert not self.is_explicit or not self.away
                self.waits = False
            case Act.TELL_HELD:
                # A turn that was handed over is known here before the daemon hears of it.
                assert action.turn == self.machine.turn
                assert self.held in (None, action.turn)
                self.told_held = bool(action.value)
            case Act.REFUSE:
                self.gate_is_open, self.is_refused = False, True
            case Act.ARM_GATE | Act.ARM_SESSION:
                assert self.armed is None
                self.armed, self.armed_at_gate = action.descriptor, action.act is Act.ARM_GATE
            case Act.DISARM:
                self.disarm()
            case Act.DISARM_OR_BEGIN:
                self.disarm_or_begin()
            case Act.HAND_OVER:
                assert action.descriptor in self.alive
            case Act.DROP:
                self.alive.remove(action.descriptor)
            case Act.ORDER_OUT:
                assert action.bytes > 0
                self.leaving = action.bytes
                self.away = min(WHOLE, self.away + action.bytes)
            case Act.ORDER_MORE:
                self.leaving += action.bytes
            case Act.ORDER_AHEAD:
                assert action.bytes > 0
                assert not self.leaving
            case Act.ORDER_FILL | Act.ORDER_GENTLY | Act.ORDER_REST | Act.ORDER_RETURN:
                assert action.act is not Act.ORDER_RETURN or self.is_explicit
                self.leaving = 0
            case Act.DISPLACE:
                assert 0 < action.bytes <= self.there
                assert not self.is_explicit
                self.away += action.bytes
            case Act.COUNT_ALL_THERE:
                assert not self.is_explicit or not self.away
                self.away = 0
            case Act.WANT:
                assert self.held is None
                assert not self.machine.holds
            case Act.RELEASED:
                self.released(action)
            case Act.TELL_OUT | Act.TELL_IN:
                self.owes_left = self.owes_left and self.leaving > 0

    def disarm(self) -> None:
        assert self.armed is not None
        self.alive.remove(self.armed)
        self.armed = None

    def disarm_or_begin(self) -> None:
        if self.turn_has_come:
            self.gate_is_open = True
            self.feed(Event.HANDED)
        else:
            self.disarm()
            self.feed(Event.DISARMED, there=self.there)

    def released(self, action: Action) -> None:
        assert action.turn == self.machine.turn
        assert not self.gate_is_open
        self.held = None
        self.owes_left = action.bytes > 0
        assert self.owes_left == (self.leaving > 0)

    # The invariants.

    @invariant()
    def the_gate_is_open_in_these_states_and_no_others(self) -> None:
        states = (State.ALONE, State.OPEN, State.WATCHED)
        assert self.gate_is_open == (self.machine.state in states)

    @invariant()
    def the_daemon_knows_whether_somebody_waits_at_a_gate_that_is_held(self) -> None:
        if self.machine.state is State.HELD:
            is_told = self.machine.is_wanted and not self.machine.numbers["is_to_step"]
            assert not is_told or self.told_held

    @invariant()
    def the_gate_is_closed_while_memory_has_to_come(self) -> None:
        assert not self.gate_is_open or self.machine.job is not Job.FILLS or self.fills_beside

    @invariant()
    def explicit_memory_is_there_while_the_gate_is_open_or_may_open(self) -> None:
        may_open = self.gate_is_open or (self.armed is not None and self.armed_at_gate)
        assert not self.is_explicit or not may_open or not self.away

    @invariant()
    def descriptors_are_where_they_are_used_and_nowhere_else(self) -> None:
        in_use = {self.machine.numbers["next_descriptor"], self.armed} - {-1, None}
        assert self.alive == in_use
        assert self.machine.holds or self.machine.numbers["next_descriptor"] == -1

    @invariant()
    def a_standby_is_for_those_without_a_turn(self) -> None:
        assert (self.armed is not None) == (self.machine.standby != 0)
        assert self.armed is None or not self.machine.holds

    @invariant()
    def leaving_is_when_memory_leaves_without_a_turn(self) -> None:
        if self.machine.state is State.LEAVING:
            assert self.machine.job is Job.MOVES_OUT
        if self.machine.state is State.CLOSED:
            assert self.machine.job is Job.RESTS
        if self.machine.state is State.FILLING:
            assert self.machine.job is Job.FILLS
        if self.machine.state is State.FETCHING:
            assert self.machine.job is Job.FILLS_AHEAD

    def teardown(self) -> None:
        """Every promise is kept when the performer answers."""
        for _ in range(4):
            if self.machine.state in (State.CLOSING, State.STOPPING):
                self.drain(sure=True)
            elif self.machine.state in (State.HOLDING, State.HELD):
                self.keep()
            elif self.machine.state is State.GROWING:
                self.moved(whole=True)
                if self.machine.state is State.GROWING:
                    self.grew()
            elif self.machine.state is State.WATCHED:
                self.rest()
            elif self.machine.job is not Job.RESTS:
                self.moved(whole=True)
        at_rest = (State.NEW, State.ALONE, State.WAITING, State.CLOSED, State.OPEN)
        assert self.machine.state in at_rest
        assert not self.owes_left
        self.lose(refuses=False, may_wait=False)
        self.moved(whole=True)
        assert self.gate_is_open
        assert not self.alive


class ExplicitClient(Client):
    """The same, with memory that must not be used while it is away."""

    is_explicit = True


TestClient = Client.TestCase
TestExplicitClient = ExplicitClient.TestCase
TestClient.settings = TestExplicitClient.settings = settings(
    max_examples=150, stateful_step_count=60
)
