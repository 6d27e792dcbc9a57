"""A turn that is held: the actions and their order, the messages to the daemon, and its end."""

import pytest

from nvshare.machine import Act, Action, Event, Job, Machine, State

from .reaching import TURN, at, holding_short


def told_held(waits: bool) -> Action:
    return Action(Act.TELL_HELD, turn=TURN, value=waits)


def test_what_it_says_names_the_order_that_it_answers() -> None:
    machine = at(State.OPEN)
    machine.feed(Event.HOLD, turn=TURN, number=3)
    assert machine.feed(Event.DRAINED)[1][0].number == 3
    assert machine.feed(Event.WORK)[1][0].number == 3
    machine.feed(Event.STEP, turn=TURN, number=4)
    assert machine.feed(Event.CANNOT_DRAIN)[1][-1].number == 4
    # A REVOKE has none, whatever was before it.
    machine.feed(Event.HOLD, turn=TURN, number=5)
    machine.feed(Event.REVOKE, turn=TURN, is_urgent=True)
    assert machine.feed(Event.CANNOT_DRAIN)[1][-1].number == 0


def test_a_step_that_waits_for_memory_is_answered_when_it_is_done() -> None:
    machine = holding_short(State.HOLDING)
    machine.feed(Event.DRAINED)
    machine.feed(Event.STEP, turn=TURN, number=4)
    assert machine.feed(Event.WORK)[1] == []
    machine.feed(Event.MOVED)
    (held,) = machine.feed(Event.DRAINED, waits=True)[1]
    assert (held.act, held.number, held.value) == (Act.TELL_HELD, 4, 1)


def acts(actions: list[Action]) -> list[Act]:
    return [action.act for action in actions]


@pytest.mark.parametrize("state", [State.OPEN, State.WATCHED])
def test_to_hold_is_to_close_the_gate_and_to_drain_and_nothing_else(state: State) -> None:
    machine = at(state)
    _, actions = machine.feed(Event.HOLD, turn=TURN)
    assert actions == [Action(Act.CLOSE), Action(Act.CONTEND, value=1), Action(Act.DRAIN)]
    assert machine.holds


@pytest.mark.parametrize("waits", [False, True])
def test_the_daemon_is_told_when_nothing_is_in_flight_and_whether_somebody_waits(
    waits: bool,
) -> None:
    machine = at(State.HOLDING)
    assert machine.feed(Event.DRAINED, waits=waits, there=100)[1] == [told_held(waits)]


def test_somebody_who_comes_later_to_wait_is_told_once() -> None:
    machine = at(State.HELD)
    assert machine.feed(Event.WORK)[1] == [told_held(True)]
    assert machine.feed(Event.WORK)[1] == []


def test_a_step_lets_one_call_pass_and_is_followed_by_another_report() -> None:
    machine = at(State.HOLDING)
    for _ in range(3):
        assert machine.feed(Event.DRAINED, waits=True)[1] == [told_held(True)]
        assert acts(machine.feed(Event.STEP, turn=TURN)[1]) == [Act.STEP, Act.DRAIN]
        # A second one before the end of the first has crossed with another message.
        assert machine.feed(Event.STEP, turn=TURN)[1] == []
    # The thread that has passed is the only one that waited.
    assert machine.feed(Event.DRAINED)[1] == [told_held(False)]


@pytest.mark.parametrize("state", [State.HOLDING, State.HELD])
def test_keep_opens_the_gate(state: State) -> None:
    machine = at(state)
    machine.feed(Event.WORK)
    assert machine.feed(Event.KEEP, turn=TURN)[1] == [Action(Act.OPEN), Action(Act.CONTEND)]
    assert not machine.is_wanted


@pytest.mark.parametrize("state", [State.HOLDING, State.HELD])
def test_revoke_ends_the_turn_as_it_does_from_an_open_gate(state: State) -> None:
    machine = at(state)
    _, actions = machine.feed(Event.REVOKE, turn=TURN, is_urgent=True, bytes=40)
    assert acts(actions) == [Act.CONTEND, Act.DRAIN]
    _, actions = machine.feed(Event.DRAINED, waits=True, there=100)
    assert [(one.act, one.bytes) for one in actions if one.bytes] == [
        (Act.ORDER_OUT, 40),
        (Act.RELEASED, 40),
    ]
    assert machine.state is State.LEAVING
    assert machine.is_wanted


def test_what_was_to_leave_when_idle_does_not_when_the_turn_is_only_held() -> None:
    machine = at(State.WATCHED, evict=10)
    machine.feed(Event.HOLD, turn=TURN)
    assert machine.feed(Event.DRAINED, there=100)[1] == [told_held(False)]
    assert machine.state is State.HELD


def test_what_is_to_be_trimmed_waits_for_the_gate() -> None:
    machine = at(State.HELD)
    assert machine.feed(Event.TRIM, bytes=10, can_move=True)[1] == []
    _, actions = machine.feed(Event.KEEP, turn=TURN)
    assert actions[-1] == Action(Act.ORDER_OUT, bytes=10)


def test_what_cannot_drain_goes_on_and_the_daemon_is_told() -> None:
    machine = at(State.HOLDING)
    assert machine.feed(Event.CANNOT_DRAIN)[1] == [
        Action(Act.OPEN),
        Action(Act.TELL_CANNOT_DRAIN, turn=TURN),
    ]


@pytest.mark.parametrize("state", [State.HOLDING, State.HELD])
def test_without_a_daemon_the_gate_opens(state: State) -> None:
    assert acts(at(state).feed(Event.LOST)[1])[0] is Act.OPEN


@pytest.mark.parametrize("state", [State.FILLING, State.GROWING])
def test_what_is_coming_goes_on_while_it_holds(state: State) -> None:
    machine = at(state)
    job = machine.job
    assert acts(machine.feed(Event.HOLD, turn=TURN)[1]) == [Act.CONTEND, Act.DRAIN]
    assert machine.job is job
    # Others make room for it meanwhile.
    assert machine.feed(Event.ROOM, turn=TURN, missing=4)[1] == [Action(Act.SET_MISSING, bytes=4)]
    # And the gate opens when it is there.
    assert Act.OPEN not in acts(machine.feed(Event.KEEP, turn=TURN)[1])
    assert Act.OPEN in acts(machine.feed(Event.MOVED)[1])


def grown_while_held() -> Machine:
    machine = at(State.HELD)
    assert machine.feed(Event.GROW, missing=20)[1] == [Action(Act.SET_MISSING, bytes=20)]
    assert machine.job is Job.RESTS
    return machine


@pytest.mark.parametrize("machine", [holding_short(State.HELD), grown_while_held()])
def test_a_call_passes_when_its_memory_is_there(machine: Machine) -> None:
    machine = machine.copy()
    assert Act.STEP not in acts(machine.feed(Event.STEP, turn=TURN)[1])
    assert machine.job is Job.FILLS
    assert acts(machine.feed(Event.MOVED)[1]) == [Act.TELL_IN, Act.STEP, Act.DRAIN]
    assert machine.state is State.HOLDING
    # The next one need not wait.
    machine.feed(Event.DRAINED, waits=True)
    assert acts(machine.feed(Event.STEP, turn=TURN)[1])[0] is Act.STEP


def test_what_leaves_is_waited_for_before_memory_comes_for_a_step() -> None:
    machine = at(State.OPEN)
    machine.feed(Event.TRIM, bytes=10, can_move=True)
    machine.feed(Event.HOLD, turn=TURN)
    machine.feed(Event.DRAINED, waits=True)
    machine.feed(Event.GROW, missing=20)
    assert machine.feed(Event.STEP, turn=TURN)[1] == []
    assert acts(machine.feed(Event.MOVED)[1]) == [Act.TELL_OUT, Act.SET_MISSING, Act.ORDER_FILL]
    assert acts(machine.feed(Event.MOVED)[1])[-2:] == [Act.STEP, Act.DRAIN]


def test_keep_takes_a_step_back_that_has_waited_for_memory() -> None:
    machine = holding_short(State.HELD)
    machine.feed(Event.STEP, turn=TURN)
    machine.feed(Event.KEEP, turn=TURN)
    _, actions = machine.feed(Event.MOVED)
    assert Act.OPEN in acts(actions)
    assert Act.STEP not in acts(actions)
    machine.feed(Event.HOLD, turn=TURN)
    machine.feed(Event.DRAINED)
    assert machine.state is State.HELD
