"""The rules that are easy to lose: the actions, their order, and their numbers."""

import pytest

from nvshare.machine import Act, Action, Event, Job, Machine, Reason, Standby, State
from nvshare.machine.values import Hello

from .reaching import BEFORE, IDLE_NS, TURN, at


def acts(actions: list[Action]) -> list[Act]:
    return [action.act for action in actions]


def one(actions: list[Action], act: Act) -> Action:
    (found,) = (action for action in actions if action.act is act)
    return found


def test_the_gate_opens_first_when_nothing_has_to_come() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    assert acts(machine.feed(Event.GRANT, turn=TURN)[1])[0] is Act.OPEN


def test_how_much_may_come_is_said_before_what_is_to_come() -> None:
    _, actions = at(State.CLOSED).feed(Event.GRANT, turn=TURN, must_fill=True, bytes=30, missing=10)
    assert actions[-2:] == [Action(Act.SET_MISSING, bytes=10), Action(Act.ORDER_FILL, bytes=30)]
    assert Act.OPEN not in acts(actions)


def test_a_gate_that_may_open_by_itself_is_closed_before_a_fill() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    told = acts(machine.feed(Event.GRANT, turn=TURN, must_fill=True)[1])
    assert told.index(Act.DISARM) < told.index(Act.CLOSE) < told.index(Act.ORDER_FILL)


def test_a_turn_that_begins_with_moving_memory_is_the_sessions_business() -> None:
    for fills, act in ((True, Act.ARM_SESSION), (False, Act.ARM_GATE)):
        _, actions = at(State.CLOSED).feed(Event.STANDBY, turn=TURN, descriptor=3, must_fill=fills)
        assert actions == [Action(act, descriptor=3)]


def test_a_turn_that_is_handed_over_begins_with_what_its_standby_said() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3, must_fill=True, bytes=40, missing=20)
    _, actions = machine.feed(Event.HANDED, must_fill=True)
    assert one(actions, Act.SET_MISSING).bytes == 20
    assert one(actions, Act.ORDER_FILL).bytes == 40
    assert machine.standby is Standby.NOBODY


def test_a_later_standby_replaces_an_earlier_one() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    _, actions = machine.feed(Event.STANDBY, turn=TURN, descriptor=4)
    assert actions == [Action(Act.DISARM), Action(Act.ARM_GATE, descriptor=4)]


def test_evict_disarms_the_gate_before_memory_leaves() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    assert acts(machine.feed(Event.EVICT, bytes=10, there=100)[1]) == [Act.DISARM_OR_BEGIN]
    assert machine.feed(Event.DISARMED, there=100)[1] == [Action(Act.ORDER_OUT, bytes=10)]
    assert machine.standby is Standby.NOBODY


def test_evict_that_comes_too_late_is_answered_with_nothing() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    machine.feed(Event.EVICT, bytes=10, there=100)
    _, actions = machine.feed(Event.HANDED)
    assert acts(actions)[0] is Act.OPEN
    assert one(actions, Act.ANSWER).turn == TURN
    # The bytes that were to leave then do not leave at the end of this turn.
    machine.feed(Event.REVOKE, turn=TURN, is_urgent=True)
    machine.feed(Event.DRAINED, there=100)
    assert machine.state is State.CLOSED


def test_evict_leaves_a_standby_of_the_session_alone() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3, must_fill=True)
    assert acts(machine.feed(Event.EVICT, bytes=10, there=100)[1]) == [Act.ORDER_OUT]
    assert machine.standby is Standby.SESSION


def test_no_more_leaves_than_is_there() -> None:
    _, actions = at(State.CLOSED).feed(Event.EVICT, bytes=1000, there=100)
    assert actions == [Action(Act.ORDER_OUT, bytes=100)]


def test_evict_adds_to_what_leaves() -> None:
    _, actions = at(State.LEAVING).feed(Event.EVICT, bytes=10, there=100)
    assert actions == [Action(Act.ORDER_MORE, bytes=10)]


def test_the_next_program_is_woken_before_the_daemon_hears_of_it() -> None:
    machine = at(State.CLOSING, evict=10)
    machine.feed(Event.HANDOVER, turn=TURN, next_turn=9, descriptor=3)
    _, actions = machine.feed(Event.DRAINED, there=100, away=5, waits=True)
    assert actions == [
        Action(Act.HAND_OVER, descriptor=3, turn=9),
        Action(Act.COUNT_ALL_THERE),
        Action(Act.ORDER_OUT, bytes=10),
        Action(Act.RELEASED, turn=TURN, value=Reason.TOLD, bytes=10),
        Action(Act.DROP, descriptor=3),
        Action(Act.CONTEND, value=1),
    ]


@pytest.mark.parametrize(
    ("state", "event", "reason"),
    [
        (State.CLOSING, Event.DRAINED, Reason.TOLD),
        (State.STOPPING, Event.DRAINED, Reason.TOLD),
        (State.CLOSING, Event.USED_UP, Reason.USED_UP),
        (State.WATCHED, Event.IDLE, Reason.IDLE),
        (State.WATCHED, Event.USED_UP, Reason.USED_UP),
    ],
)
def test_why_a_turn_is_given_up(state: State, event: Event, reason: Reason) -> None:
    _, actions = at(state).feed(event)
    assert one(actions, Act.RELEASED).value == reason


@pytest.mark.parametrize("event", [Event.IDLE, Event.USED_UP])
def test_a_gate_that_was_watched_is_closed_before_its_turn_is_handed_over(event: Event) -> None:
    machine = at(State.WATCHED)
    machine.feed(Event.HANDOVER, turn=TURN, next_turn=9, descriptor=3)
    assert acts(machine.feed(event)[1])[:2] == [Act.CLOSE, Act.HAND_OVER]


def test_who_waits_is_told_with_the_release_and_not_again() -> None:
    machine = at(State.CLOSING)
    machine.feed(Event.DRAINED, waits=True)
    assert machine.feed(Event.WORK)[1] == []
    machine = at(State.CLOSING)
    machine.feed(Event.DRAINED)
    assert machine.feed(Event.WORK)[1] == [Action(Act.WANT, turn=TURN)]
    assert machine.feed(Event.WORK)[1] == []


def test_what_is_displaced_counts_as_away_and_does_not_move() -> None:
    machine = at(State.CLOSING, evict=10, displaces=True)
    _, actions = machine.feed(Event.DRAINED, there=6)
    assert one(actions, Act.DISPLACE).bytes == 6
    assert one(actions, Act.RELEASED).bytes == 0
    assert not {Act.ORDER_OUT, Act.ORDER_REST} & set(acts(actions))
    assert machine.job is Job.RESTS


def test_displacing_ends_with_the_turn() -> None:
    machine = at(State.CLOSING, evict=10, displaces=True)
    machine.feed(Event.DRAINED, there=6)
    machine.feed(Event.GRANT, turn=9)
    machine.feed(Event.REVOKE, turn=9, is_urgent=True, bytes=5)
    assert one(machine.feed(Event.DRAINED, there=6)[1], Act.ORDER_OUT).bytes == 5


def test_a_fill_that_is_stopped_is_left_at_what_has_come() -> None:
    machine = at(State.STOPPING)
    _, actions = machine.feed(Event.DRAINED, there=50, away=50)
    # Memory that has not come counts as away: not all is there.
    assert acts(actions) == [Act.ORDER_REST, Act.RELEASED, Act.CONTEND]


def test_what_leaves_of_a_fill_that_is_stopped_is_what_has_come() -> None:
    machine = at(State.STOPPING, evict=100)
    assert one(machine.feed(Event.DRAINED, there=50, away=50)[1], Act.ORDER_OUT).bytes == 50
    machine = at(State.CLOSING, evict=100)
    assert one(machine.feed(Event.DRAINED, there=50, away=50)[1], Act.ORDER_OUT).bytes == 100


def test_one_that_waits_for_its_memory_is_not_idle() -> None:
    machine = at(State.FILLING)
    _, actions = machine.feed(Event.REVOKE, turn=TURN, idle_ns=IDLE_NS)
    assert Act.WATCH not in acts(actions)
    _, actions = machine.feed(Event.MOVED)
    assert actions == [
        Action(Act.OPEN),
        Action(Act.WATCH, bytes=IDLE_NS),
        Action(Act.TELL_IN, turn=TURN),
    ]


def test_keep_does_not_open_a_gate_before_the_memory_is_there() -> None:
    for state in (State.FILLING, State.GROWING, State.STOPPING):
        machine = at(state)
        machine.feed(Event.HANDOVER, turn=TURN, next_turn=9, descriptor=3)
        _, actions = machine.feed(Event.KEEP, turn=TURN)
        assert Act.OPEN not in acts(actions)
        assert one(actions, Act.DROP).descriptor == 3
        assert one(actions, Act.CONTEND).value == 0


def test_keep_in_the_middle_of_stopping_fills_again_what_the_turn_began_with() -> None:
    _, actions = at(State.STOPPING).feed(Event.KEEP, turn=TURN)
    assert one(actions, Act.SET_MISSING).bytes == 10
    assert one(actions, Act.ORDER_FILL).bytes == 30


@pytest.mark.parametrize("state", [State.WATCHED, State.CLOSING])
def test_keep_opens_a_gate_that_was_closing_and_voids_what_was_to_leave(state: State) -> None:
    machine = at(state, evict=10)
    assert acts(machine.feed(Event.KEEP, turn=TURN)[1])[0] is Act.OPEN
    machine.feed(Event.REVOKE, turn=TURN, is_urgent=True)
    machine.feed(Event.DRAINED, there=100)
    assert machine.state is State.CLOSED


def test_what_cannot_drain_goes_on_with_its_turn_and_the_daemon_is_told() -> None:
    machine = at(State.CLOSING, evict=10)
    machine.feed(Event.HANDOVER, turn=TURN, next_turn=9, descriptor=3)
    _, actions = machine.feed(Event.CANNOT_DRAIN)
    assert actions == [
        Action(Act.OPEN),
        Action(Act.DROP, descriptor=3),
        Action(Act.TELL_CANNOT_DRAIN, turn=TURN),
    ]
    # It is told again to give up the turn. The bytes of the first order are void.
    assert acts(machine.feed(Event.REVOKE, turn=TURN, is_urgent=True)[1])[0] is Act.CLOSE
    machine.feed(Event.DRAINED, there=100)
    assert machine.state is State.CLOSED


def test_what_cannot_drain_while_memory_comes_opens_when_that_is_there() -> None:
    machine = at(State.STOPPING, evict=10)
    assert acts(machine.feed(Event.CANNOT_DRAIN)[1]) == [
        Act.SET_MISSING,
        Act.ORDER_FILL,
        Act.TELL_CANNOT_DRAIN,
    ]
    machine.feed(Event.MOVED)
    assert machine.state is State.OPEN


def test_room_is_passed_on_while_memory_comes() -> None:
    for state in (State.FILLING, State.STOPPING):
        _, actions = at(state).feed(Event.ROOM, turn=TURN, missing=4)
        assert actions == [Action(Act.SET_MISSING, bytes=4)]
    # While others make room, the growth is waited for.
    _, actions = at(State.GROWING).feed(Event.ROOM, turn=TURN, missing=4)
    assert actions == [Action(Act.SET_MISSING, bytes=4), Action(Act.AWAIT_GROWTH)]


@pytest.mark.parametrize("state", [State.OPEN, State.WATCHED])
def test_what_made_room_in_its_turn_comes_back_at_once_when_there_is_room_again(
    state: State,
) -> None:
    assert at(state).feed(Event.ROOM, turn=TURN, missing=4)[1] == []
    machine = at(state)
    _, actions = machine.feed(Event.ROOM, turn=TURN, missing=0)
    assert acts(actions) == [Act.SET_MISSING, Act.ORDER_FILL]
    assert machine.state is state
    # Once is enough. The memory that has come is reported.
    assert machine.feed(Event.ROOM, turn=TURN, missing=0)[1] == []
    assert acts(machine.feed(Event.MOVED)[1]) == [Act.TELL_IN]
    assert machine.state is state


def test_room_for_a_turn_that_has_not_come_yet_is_remembered() -> None:
    machine = at(State.LEAVING)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3, must_fill=True, missing=20)
    assert machine.feed(Event.ROOM, turn=TURN, missing=4)[1] == []
    _, actions = machine.feed(Event.HANDED, must_fill=True)
    assert one(actions, Act.SET_MISSING).bytes == 4


def test_a_grant_without_missing_lets_all_come() -> None:
    machine = at(State.STOPPING)
    machine.feed(Event.DRAINED)
    _, actions = machine.feed(Event.GRANT, turn=9, must_fill=True)
    assert one(actions, Act.SET_MISSING).bytes == 0
    assert one(actions, Act.ORDER_FILL).bytes == 0


def test_growth_closes_the_gate_and_all_comes_when_it_is_there() -> None:
    machine = at(State.WATCHED)
    told = acts(machine.feed(Event.GROW, missing=8)[1])
    assert told == [Act.CLOSE, Act.SET_MISSING, Act.AWAIT_GROWTH]
    _, actions = machine.feed(Event.GREW)
    assert actions == [Action(Act.SET_MISSING, bytes=8), Action(Act.ORDER_FILL, bytes=0)]
    # It had been asked to give way when idle, and still is.
    machine.feed(Event.MOVED)
    assert machine.state is State.WATCHED


def test_growth_in_the_middle_of_a_fill_leaves_it_alone() -> None:
    machine = at(State.FILLING)
    assert acts(machine.feed(Event.GROW, missing=8)[1]) == [Act.SET_MISSING, Act.AWAIT_GROWTH]
    assert machine.feed(Event.MOVED)[1] == []
    assert one(machine.feed(Event.GREW)[1], Act.ORDER_FILL).bytes == 0


def test_trim_waits_until_nothing_else_moves() -> None:
    machine = at(State.FILLING)
    machine.feed(Event.TRIM, bytes=10, can_move=True)
    assert machine.feed(Event.TRIM, bytes=5, can_move=True)[1] == []
    _, actions = machine.feed(Event.MOVED)
    assert acts(actions) == [Act.OPEN, Act.TELL_IN, Act.ORDER_OUT]
    assert actions[-1].bytes == 15
    assert machine.feed(Event.TRIM, bytes=7, can_move=True)[1] == []
    _, actions = machine.feed(Event.MOVED)
    assert actions == [Action(Act.TELL_OUT, turn=TURN), Action(Act.ORDER_OUT, bytes=7)]
    assert machine.feed(Event.MOVED)[1] == [Action(Act.TELL_OUT, turn=TURN)]


def test_a_turn_that_ends_makes_an_end_of_trimming() -> None:
    machine = at(State.OPEN)
    machine.feed(Event.TRIM, bytes=10, can_move=True)
    machine.feed(Event.TRIM, bytes=10, can_move=True)
    machine.feed(Event.REVOKE, turn=TURN, is_urgent=True)
    assert Act.ORDER_REST in acts(machine.feed(Event.DRAINED, there=100)[1])
    machine.feed(Event.GRANT, turn=9)
    assert machine.numbers["trim"] == 0
    assert machine.feed(Event.MOVED)[1] == []


def test_what_had_left_when_a_turn_came_is_told_of_the_turn_before() -> None:
    machine = at(State.LEAVING)
    machine.feed(Event.GRANT, turn=TURN)
    assert machine.feed(Event.MOVED)[1] == [Action(Act.TELL_OUT, turn=BEFORE)]
    assert machine.state is State.OPEN


def test_progress_is_told_of_what_leaves_after_a_turn() -> None:
    machine = at(State.LEAVING)
    assert machine.feed(Event.PROGRESS)[1] == [Action(Act.TELL_OUT, turn=BEFORE)]
    assert machine.feed(Event.MOVED)[1] == [Action(Act.TELL_OUT, turn=BEFORE)]


def test_a_later_handover_replaces_an_earlier_one() -> None:
    machine = at(State.OPEN)
    machine.feed(Event.HANDOVER, turn=TURN, next_turn=8, descriptor=3)
    _, actions = machine.feed(Event.HANDOVER, turn=TURN, next_turn=9, descriptor=4)
    assert actions == [Action(Act.DROP, descriptor=3)]
    machine.feed(Event.REVOKE, turn=TURN, is_urgent=True)
    assert one(machine.feed(Event.DRAINED)[1], Act.HAND_OVER) == Action(Act.HAND_OVER, 4, 9)


def test_a_handover_that_was_cancelled_wakes_nobody() -> None:
    machine = at(State.OPEN)
    machine.feed(Event.HANDOVER, turn=TURN, next_turn=8, descriptor=3)
    assert machine.feed(Event.CANCEL_HANDOVER, turn=TURN)[1] == [Action(Act.DROP, descriptor=3)]
    assert machine.feed(Event.CANCEL_HANDOVER, turn=TURN)[1] == []
    machine.feed(Event.REVOKE, turn=TURN, is_urgent=True)
    assert Act.HAND_OVER not in acts(machine.feed(Event.DRAINED)[1])


def test_without_a_daemon_the_gate_opens_and_memory_comes_if_it_finds_room() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    told = acts(machine.feed(Event.LOST, must_fill=True)[1])
    assert told == [Act.OPEN, Act.DISARM, Act.CONTEND, Act.ORDER_GENTLY]
    _, (hello,) = machine.feed(Event.GREET)
    assert (hello.turn, hello.value) == (BEFORE, Hello.RESUMING | Hello.UNGRANTED)
    machine.feed(Event.WELCOME)
    assert (machine.state, machine.turn) == (State.OPEN, BEFORE)


def test_before_there_ever_was_a_daemon_memory_is_where_it_is_used() -> None:
    _, actions = Machine().feed(Event.LOST, must_fill=True)
    assert acts(actions) == [Act.OPEN, Act.CONTEND, Act.COUNT_ALL_THERE]


def test_a_program_that_must_not_begin_alone_is_told_to_wait_by_a_daemon() -> None:
    machine = Machine()
    assert acts(machine.feed(Event.LOST, refuses=True)[1]) == [Act.REFUSE]
    _, (hello,) = machine.feed(Event.GREET, waits=True)
    assert hello.value == Hello.WANTS
    assert acts(machine.feed(Event.WELCOME)[1]) == [Act.CLOSE]
    # It has already reported that a thread waits.
    assert machine.feed(Event.WORK)[1] == []
    # Once it was welcome, it goes on without a daemon like any client.
    assert acts(machine.feed(Event.LOST, refuses=True)[1])[0] is Act.OPEN


def test_a_wish_that_a_lost_daemon_was_told_is_told_to_the_next() -> None:
    machine = Machine()
    machine.feed(Event.GREET, waits=True)
    machine.feed(Event.LOST, refuses=True)
    machine.feed(Event.GREET)
    machine.feed(Event.WELCOME)
    assert acts(machine.feed(Event.WORK)[1]) == [Act.WANT]


def test_explicit_memory_comes_back_before_the_gate_opens_without_a_daemon() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    told = acts(machine.feed(Event.LOST, must_fill=True, is_explicit=True)[1])
    assert told == [Act.DISARM, Act.CONTEND, Act.CLOSE, Act.ORDER_RETURN]
    # A daemon that cannot be reached is lost again and again, and the fill goes on.
    assert machine.feed(Event.LOST, must_fill=True, is_explicit=True)[1] == []
    assert machine.feed(Event.MOVED, is_explicit=True)[1] == [Action(Act.OPEN)]
    assert machine.state is State.ALONE


def test_without_a_turn_it_waits_for_the_next_daemon_and_claims_nothing() -> None:
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    told = acts(machine.feed(Event.LOST, may_wait=True)[1])
    assert told == [Act.DISARM, Act.CONTEND, Act.CLOSE]
    _, (hello,) = machine.feed(Event.GREET, waits=True)
    assert (hello.turn, hello.value) == (BEFORE, Hello.WANTS)
    # It was no daemon after all, or one that does not answer.
    assert machine.feed(Event.LOST, may_wait=True)[1] == []
    machine.feed(Event.GREET)
    machine.feed(Event.WELCOME)
    assert machine.state is State.CLOSED


def test_memory_goes_on_leaving_for_the_one_that_has_the_turn() -> None:
    machine = at(State.LEAVING)
    told = acts(machine.feed(Event.LOST, may_wait=True, must_fill=True)[1])
    assert told == [Act.CONTEND, Act.CLOSE]
    # HELLO says how much is away, so no more leaves from then on.
    assert acts(machine.feed(Event.GREET)[1]) == [Act.ORDER_REST, Act.HELLO]


def test_memory_does_not_go_on_coming_ahead_of_a_turn_that_nobody_can_give() -> None:
    machine = at(State.FETCHING)
    told = acts(machine.feed(Event.LOST, may_wait=True, must_fill=True)[1])
    assert told == [Act.CONTEND, Act.CLOSE, Act.ORDER_REST]


def test_the_memory_of_a_turn_that_has_begun_goes_on_coming() -> None:
    machine = at(State.FILLING)
    _, actions = machine.feed(Event.LOST, must_fill=True, may_wait=True)
    assert acts(actions) == [Act.OPEN, Act.CONTEND, Act.SET_MISSING, Act.ORDER_FILL]
    assert one(actions, Act.SET_MISSING).bytes == 0
    assert one(actions, Act.ORDER_FILL).bytes == 30


def greets(machine: Machine) -> Hello:
    (hello,) = machine.copy().feed(Event.GREET)[1]
    return Hello(hello.value)


def test_who_has_waited_in_vain_says_that_its_gate_has_opened_without_a_turn() -> None:
    machine = at(State.WAITING)
    assert acts(machine.feed(Event.LOST)[1])[0] is Act.OPEN
    assert greets(machine) == Hello.RESUMING | Hello.UNGRANTED
    # A daemon that dies before it has given it one changes nothing.
    machine.feed(Event.GREET)
    machine.feed(Event.WELCOME)
    machine.feed(Event.LOST, may_wait=True)
    assert greets(machine) == Hello.RESUMING | Hello.UNGRANTED
    # With a turn of its own it is as good as others.
    machine.feed(Event.GREET)
    machine.feed(Event.WELCOME)
    machine.feed(Event.REVOKE, turn=machine.turn, is_urgent=True)
    machine.feed(Event.DRAINED)
    machine.feed(Event.GRANT, turn=TURN)
    machine.feed(Event.LOST, may_wait=True)
    assert greets(machine) == Hello.RESUMING


def test_who_begins_without_a_daemon_has_no_turn_either() -> None:
    assert greets(at(State.ALONE)) == Hello.RESUMING | Hello.UNGRANTED


def test_a_daemon_that_comes_in_between_is_not_told_of_an_open_gate() -> None:
    machine = at(State.RETURNING)
    _, (hello,) = machine.feed(Event.GREET, waits=True)
    assert (hello.turn, hello.value) == (BEFORE, Hello.WANTS)
    # Memory that has come by then stays. The daemon hears of it: HELLO has said that it is away.
    told = Action(Act.TELL_IN, turn=BEFORE)
    assert machine.feed(Event.WELCOME)[1] == [Action(Act.ORDER_REST), told]
    assert (machine.state, machine.job) == (State.CLOSED, Job.RESTS)


def test_a_gate_that_a_daemon_was_told_is_closed_does_not_open_before_it_answers() -> None:
    machine = at(State.RETURNING)
    machine.feed(Event.GREET)
    assert machine.feed(Event.MOVED, is_explicit=True)[1] == []
    answered = machine.copy()
    answered.feed(Event.WELCOME)
    assert answered.state is State.CLOSED
    # It was no daemon after all.
    assert acts(machine.feed(Event.LOST, is_explicit=True)[1])[0] is Act.OPEN


def test_explicit_memory_that_was_never_managed_by_a_daemon_comes_first_too() -> None:
    _, actions = Machine().feed(Event.LOST, must_fill=True, is_explicit=True)
    assert acts(actions) == [Act.CONTEND, Act.CLOSE, Act.ORDER_RETURN]
    _, actions = Machine().feed(Event.LOST, is_explicit=True)
    assert acts(actions) == [Act.OPEN, Act.CONTEND, Act.COUNT_ALL_THERE]


@pytest.mark.parametrize(
    ("state", "event"),
    [
        (State.CLOSING, Event.DRAINED),
        (State.CLOSING, Event.USED_UP),
        (State.WATCHED, Event.IDLE),
        (State.WATCHED, Event.USED_UP),
    ],
)
def test_explicit_memory_that_is_away_stays_away_when_a_turn_ends(
    state: State, event: Event
) -> None:
    _, actions = at(state, evict=100).feed(event, there=50, away=50, is_explicit=True)
    assert Act.COUNT_ALL_THERE not in acts(actions)
    assert one(actions, Act.ORDER_OUT).bytes == 50
    # While the work in flight is unknown, nothing leaves.
    machine = at(state, evict=100)
    _, actions = machine.feed(event, there=0, away=50, is_explicit=True)
    assert not {Act.COUNT_ALL_THERE, Act.ORDER_OUT} & set(acts(actions))
    assert machine.state is State.CLOSED


def test_explicit_memory_is_not_displaced() -> None:
    machine = at(State.CLOSING, evict=10, displaces=True, is_explicit=True)
    _, actions = machine.feed(Event.DRAINED, there=6, is_explicit=True)
    assert one(actions, Act.ORDER_OUT).bytes == one(actions, Act.RELEASED).bytes == 6
    assert Act.DISPLACE not in acts(actions)


def test_explicit_memory_comes_as_a_whole_whatever_the_daemon_is_content_with() -> None:
    machine = at(State.CLOSED)
    _, actions = machine.feed(
        Event.GRANT, turn=TURN, must_fill=True, bytes=30, missing=10, is_explicit=True
    )
    assert one(actions, Act.ORDER_FILL).bytes == 0
    # If the mover comes back before that, it gets the order again.
    _, actions = machine.feed(Event.MOVED, must_fill=True, is_explicit=True)
    assert actions == [Action(Act.SET_MISSING, bytes=10), Action(Act.ORDER_FILL)]
    assert acts(machine.feed(Event.MOVED, is_explicit=True)[1])[0] is Act.OPEN


def test_explicit_memory_does_not_leave_in_the_middle_of_a_turn() -> None:
    machine = at(State.OPEN)
    _, actions = machine.feed(Event.TRIM, bytes=10, can_move=True, is_explicit=True)
    assert actions == [Action(Act.ANSWER, turn=TURN)]


@pytest.mark.parametrize("state", [State.CLOSING, State.HOLDING])
def test_work_that_pages_gets_its_memory_back_in_bulk(state: State) -> None:
    machine = at(state)
    _, actions = machine.feed(Event.ROOM, turn=TURN, missing=0)
    assert actions == [Action(Act.SET_MISSING), Action(Act.ORDER_FILL)]
    # Once is enough, and it may drain before all of that has come.
    assert Act.ORDER_FILL not in acts(machine.feed(Event.ROOM, turn=TURN, missing=0)[1])
    if state is State.CLOSING:
        assert Act.ORDER_REST in acts(machine.feed(Event.DRAINED)[1])


def test_memory_is_not_brought_in_beside_that_of_others() -> None:
    machine = at(State.CLOSING)
    assert machine.feed(Event.ROOM, turn=TURN, missing=5)[1] == []
    # Explicit memory is all there.
    assert machine.feed(Event.ROOM, turn=TURN, is_explicit=True)[1] == []
