"""Every pair of state and input, as a table written by hand.

A letter is the state that follows; "-" is void and "!" impossible, and neither changes anything.
"""

from collections.abc import Callable
from typing import Any

import pytest

from nvshare.machine import Act, Event, Machine, Result, State

from .reaching import TURN, at, holding_short

LETTERS = dict(zip("NARICLTFGOWHDXS", State, strict=True))
Play = Callable[[Machine], tuple[Result, list[Any]]]


def frame(event: Event, *, ahead: int = 0, **fields: Any) -> Play:
    """A frame about the present turn, or about one that lies ahead or behind."""
    return lambda m: m.feed(event, turn=max(0, m.turn + ahead), **fields)


def plain(event: Event, **fields: Any) -> Play:
    return lambda m: m.feed(event, **fields)


PLAYS: dict[str, Play] = {
    "greet": plain(Event.GREET),
    "welcome": plain(Event.WELCOME),
    "lost": plain(Event.LOST),
    "lost, short": plain(Event.LOST, must_fill=True, is_explicit=True),
    "lost, refusing": plain(Event.LOST, refuses=True),
    "lost, waiting": plain(Event.LOST, may_wait=True),
    "grant": frame(Event.GRANT, ahead=1),
    "grant to fill": frame(Event.GRANT, ahead=1, must_fill=True),
    "grant again": frame(Event.GRANT, must_fill=True),
    "handed by nobody": plain(Event.HANDED),
    "standby": frame(Event.STANDBY, ahead=1, descriptor=3),
    "standby to fill": frame(Event.STANDBY, ahead=1, descriptor=3, must_fill=True),
    "standby again": frame(Event.STANDBY, descriptor=3),
    "standby without": frame(Event.STANDBY, ahead=1),
    "handover": frame(Event.HANDOVER, descriptor=3),
    "handover without": frame(Event.HANDOVER),
    "handover, other": frame(Event.HANDOVER, ahead=1, descriptor=3),
    "cancel handover": frame(Event.CANCEL_HANDOVER),
    "cancel of another": frame(Event.CANCEL_HANDOVER, ahead=1),
    "ask": frame(Event.REVOKE, idle_ns=5),
    "ask another": frame(Event.REVOKE, ahead=1),
    "revoke": frame(Event.REVOKE, is_urgent=True),
    "revoke another": frame(Event.REVOKE, ahead=1, is_urgent=True),
    "keep": frame(Event.KEEP),
    "keep another": frame(Event.KEEP, ahead=1),
    "hold": frame(Event.HOLD),
    "hold another": frame(Event.HOLD, ahead=1),
    "step": frame(Event.STEP),
    "step another": frame(Event.STEP, ahead=1),
    "room": frame(Event.ROOM, missing=1),
    "room of another": frame(Event.ROOM, ahead=1),
    "evict": plain(Event.EVICT, bytes=10, there=100),
    "evict nothing": plain(Event.EVICT, bytes=0, there=100),
    "evict from nothing": plain(Event.EVICT, bytes=10, there=0),
    "fill": plain(Event.FILL, bytes=10, away=100),
    "fill nothing": plain(Event.FILL, bytes=10, away=0),
    "fill no more": plain(Event.FILL, bytes=0, away=100),
    "disarmed in vain": plain(Event.DISARMED, there=100),
    "trim": plain(Event.TRIM, bytes=10, can_move=True),
    "trim the immovable": plain(Event.TRIM, bytes=10),
    "trim the explicit": plain(Event.TRIM, bytes=10, can_move=True, is_explicit=True),
    "grow": plain(Event.GROW, missing=10),
    "grew": plain(Event.GREW),
    "work": plain(Event.WORK),
    "drained": plain(Event.DRAINED, there=100),
    "cannot drain": plain(Event.CANNOT_DRAIN),
    "idle": plain(Event.IDLE, there=100),
    "used up": plain(Event.USED_UP, there=100),
    "progress": plain(Event.PROGRESS),
    "no such event": plain(99),  # type: ignore[arg-type]
}

# NEW ALONE RETURNING WAITING (I) CLOSED LEAVING FETCHING (T) FILLING GROWING OPEN
# WATCHED HOLDING HELD (D) CLOSING (X) STOPPING
EXPECTED = """
    greet              N A R I ! ! ! ! ! ! ! ! ! ! !
    welcome            C O C C ! ! ! ! ! ! ! ! ! ! !
    lost               A A A A A A A A A A A A A A A
    lost, short        R R R R R R R R R R R R R R R
    lost, refusing     N ! A A A A A A A A A A A A A
    lost, waiting      A A A I I I I A A A A A A A A
    grant              ! ! ! ! O O O ! ! ! ! ! ! ! !
    grant to fill      ! ! ! ! F F F ! ! ! ! ! ! ! !
    grant again        - - - - - - - - - - - - - - -
    handed by nobody   - - - - - - - - - - - - - - -
    standby            ! ! ! ! C L T ! ! ! ! ! ! ! !
    standby to fill    ! ! ! ! C L T ! ! ! ! ! ! ! !
    standby again      - - - - - - - - - - - - - - -
    standby without    - - - - - - - - - - - - - - -
    handover           ! ! ! ! - - - F G O W H D X S
    handover without   - - - - - - - - - - - - - - -
    handover, other    - - - - - - - - - - - - - - -
    cancel handover    ! ! ! ! - - - F G O W H D X S
    cancel of another  - - - - - - - - - - - - - - -
    ask                ! ! ! ! - - - F G W W - - - -
    ask another        - - - - - - - - - - - - - - -
    revoke             ! ! ! ! - - - S S X X X X - -
    revoke another     - - - - - - - - - - - - - - -
    keep               ! ! ! ! - - - F G O O O O O F
    keep another       - - - - - - - - - - - - - - -
    hold               ! ! ! ! - - - H H H H - - - -
    hold another       - - - - - - - - - - - - - - -
    step               ! ! ! ! - - - - - - - - H - -
    step another       - - - - - - - - - - - - - - -
    room               ! ! ! ! - - - F G O W H D X S
    room of another    - - - - - - - - - - - - - - -
    evict              ! ! ! ! L L T F G O W H D X S
    evict nothing      ! ! ! ! C L T F G O W H D X S
    evict from nothing ! ! ! ! C L T F G O W H D X S
    fill               ! ! ! ! T L T - - - - - - - -
    fill nothing       ! ! ! ! C L - - - - - - - - -
    fill no more       ! ! ! ! - - T - - - - - - - -
    disarmed in vain   - - - - - - - - - - - - - - -
    trim               ! ! ! ! - - - F G O W H D - -
    trim the immovable ! ! ! ! C L T F G O W H D X S
    trim the explicit  ! ! ! ! C L T F G O W H D X S
    grow               ! ! ! ! - - - G G G G H D - -
    grew               ! ! ! ! ! ! ! ! F ! ! ! ! ! !
    work               - - - - C L T - - - - - D - -
    drained            ! ! ! ! ! ! ! ! ! ! ! D ! C C
    cannot drain       ! ! ! ! ! ! ! ! ! ! ! O ! O F
    idle               ! ! ! ! ! ! ! ! ! ! C ! ! ! !
    used up            - - - - - - - - - - C - - C C
    progress           ! - - - - L - - - - - - - - -
    no such event      ! ! ! ! ! ! ! ! ! ! ! ! ! ! !
"""
PAIRS = [
    (line[:19].strip(), state, letter)
    for line in (line[4:] for line in EXPECTED.strip("\n").splitlines())
    for state, letter in zip(State, line[19:].split(), strict=True)
]
NOTHING_CHANGES = {"-": Result.VOID, "!": Result.IMPOSSIBLE}


def check(machine: Machine, play: Play, letter: str) -> None:
    before = machine.numbers
    result, actions = play(machine)
    if letter in NOTHING_CHANGES:
        assert result is NOTHING_CHANGES[letter]
        assert machine.numbers == before
        assert all(action.act is Act.DROP for action in actions)
    else:
        assert result is Result.TAKEN
        assert machine.state is LETTERS[letter]


def test_the_table_here_is_whole() -> None:
    assert {name for name, _, _ in PAIRS} == set(PLAYS)
    assert len(PAIRS) == len(PLAYS) * len(State)


@pytest.mark.parametrize(("name", "state", "letter"), PAIRS)
def test_pair(name: str, state: State, letter: str) -> None:
    machine = at(state)
    assert machine.state is state
    check(machine, PLAYS[name], letter)


@pytest.mark.parametrize(("name", "state", "letter"), PAIRS)
def test_a_descriptor_that_means_nothing_is_closed(name: str, state: State, letter: str) -> None:
    machine = at(state)
    _, actions = PLAYS[name](machine)
    has_one = ("standby" in name or "handover" in name) and "without" not in name
    has_one = has_one and "cancel" not in name
    if letter in NOTHING_CHANGES:
        assert [(action.act, action.descriptor) for action in actions] == [(Act.DROP, 3)] * has_one


LEAVE = """
    drained   X L
    drained   S L
    idle      W L
    used up   W L
    used up   X L
    used up   S L
    used up   F -
    used up   G -
"""


@pytest.mark.parametrize(
    ("name", "letter", "follows"),
    [(line[4:14].strip(), *line[14:].split()) for line in LEAVE.strip("\n").splitlines()],
)
def test_memory_that_leaves_after_a_turn(name: str, letter: str, follows: str) -> None:
    check(at(LETTERS[letter], evict=10), PLAYS[name], follows)
    if follows != "-":
        # Others displace it: nothing is moved.
        check(at(LETTERS[letter], evict=10, displaces=True), PLAYS[name], "C")
        # But not explicit memory.
        displaced = at(LETTERS[letter], evict=10, displaces=True, is_explicit=True)
        check(displaced, PLAYS[name], follows)


def trimming(state: State) -> Machine:
    """A machine whose mover moves memory out in the middle of a turn."""
    machine = at(State.OPEN)
    machine.feed(Event.TRIM, bytes=10, can_move=True)
    if state is State.STOPPING:
        machine.feed(Event.GROW, missing=1)
    if state is State.GROWING:
        machine.feed(Event.GROW, missing=1)
    elif state is not State.OPEN:
        machine.feed(Event.REVOKE, turn=TURN, is_urgent=state is not State.WATCHED)
    assert machine.state is state
    return machine


def grown_while_filling(asked: bool) -> Machine:
    machine = at(State.FILLING, evict=10 if asked else 0)
    machine.feed(Event.GROW, missing=1)
    return machine


def leaving_as_it_waits() -> Machine:
    """A machine that lost its daemon with memory on its way out."""
    machine = at(State.LEAVING)
    machine.feed(Event.LOST, may_wait=True, must_fill=True)
    assert machine.state is State.WAITING
    return machine


def gently(state: State) -> Machine:
    """A machine that lost its daemon with memory away, and found another."""
    machine = at(State.LEAVING)
    machine.feed(Event.LOST, must_fill=True)
    if state is not State.ALONE:
        machine.feed(Event.GREET)
        machine.feed(Event.WELCOME)
    if state in (State.WATCHED, State.CLOSING):
        machine.feed(Event.REVOKE, turn=machine.turn, is_urgent=state is State.CLOSING)
    assert machine.state is state
    return machine


def trimming_while_it_holds(state: State, *, is_to_step: bool = False) -> Machine:
    """A machine that holds, and whose mover still moves out for a trim."""
    machine = trimming(State.OPEN)
    machine.feed(Event.HOLD, turn=TURN)
    if state is State.HELD:
        machine.feed(Event.DRAINED, waits=True)
    if is_to_step:
        machine.feed(Event.GROW, missing=1)
        machine.feed(Event.STEP, turn=TURN)
    assert machine.state is state
    return machine


def to_step() -> Machine:
    """A machine that lets a call pass when its memory is there."""
    machine = holding_short(State.HELD)
    check(machine, PLAYS["step"], "D")
    return machine


@pytest.mark.parametrize(
    ("name", "state", "letter"),
    [
        ("revoke", State.HOLDING, "S"),
        ("revoke", State.HELD, "S"),
        ("keep", State.HOLDING, "F"),
        ("keep", State.HELD, "F"),
        ("step", State.HOLDING, "-"),
        ("step", State.HELD, "D"),
        ("cannot drain", State.HOLDING, "F"),
        ("drained", State.HOLDING, "D"),
    ],
)
def test_one_that_holds_while_its_memory_comes(name: str, state: State, letter: str) -> None:
    check(holding_short(state), PLAYS[name], letter)


def to_leave() -> Machine:
    """A machine that brings memory in ahead of its turn, and is to move some out again."""
    machine = at(State.FETCHING)
    machine.feed(Event.EVICT, bytes=10, there=5)
    return machine


def greeting() -> Machine:
    machine = at(State.RETURNING)
    machine.feed(Event.GREET)
    return machine


@pytest.mark.parametrize(
    ("machine", "letter"),
    [
        *((at(state), "-") for state in (State.NEW, State.ALONE, State.CLOSED, State.OPEN)),
        *((at(state), "-") for state in (State.GROWING, State.WATCHED, State.CLOSING)),
        (at(State.WAITING), "-"),
        (leaving_as_it_waits(), "I"),
        (at(State.LEAVING), "C"),
        (at(State.FETCHING), "C"),
        (to_leave(), "C"),
        (at(State.RETURNING), "A"),
        (greeting(), "R"),
        (at(State.FILLING), "O"),
        (at(State.FILLING, evict=10), "W"),
        (at(State.STOPPING), "X"),
        (trimming(State.OPEN), "O"),
        (trimming(State.WATCHED), "W"),
        (trimming(State.GROWING), "G"),
        (trimming(State.CLOSING), "X"),
        (trimming(State.STOPPING), "S"),
        (grown_while_filling(asked=False), "G"),
        (grown_while_filling(asked=True), "G"),
        (gently(State.ALONE), "A"),
        (gently(State.OPEN), "O"),
        (gently(State.WATCHED), "W"),
        (gently(State.CLOSING), "X"),
        (at(State.HOLDING), "-"),
        (at(State.HELD), "-"),
        (holding_short(State.HOLDING), "H"),
        (holding_short(State.HELD), "D"),
        (to_step(), "H"),
        (trimming_while_it_holds(State.HOLDING), "H"),
        (trimming_while_it_holds(State.HELD), "D"),
        (trimming_while_it_holds(State.HELD, is_to_step=True), "D"),
    ],
)
def test_the_mover_is_done(machine: Machine, letter: str) -> None:
    check(machine.copy(), plain(Event.MOVED), letter)


@pytest.mark.parametrize(
    ("machine", "letter"),
    [
        (at(State.RETURNING), "R"),
        (greeting(), "R"),
        (at(State.FILLING), "F"),
        (at(State.FILLING, evict=10), "F"),
        (at(State.STOPPING), "S"),
        (grown_while_filling(asked=False), "G"),
        (holding_short(State.HOLDING), "H"),
        (holding_short(State.HELD), "D"),
        (to_step(), "D"),
        (at(State.LEAVING), "C"),
        (at(State.FETCHING), "C"),
        (trimming(State.OPEN), "O"),
        (gently(State.ALONE), "A"),
    ],
)
def test_the_mover_is_done_and_explicit_memory_is_still_away(machine: Machine, letter: str) -> None:
    check(machine.copy(), plain(Event.MOVED, must_fill=True, is_explicit=True), letter)


def test_what_came_ahead_is_told_before_memory_leaves_again() -> None:
    machine = to_leave()
    _, actions = machine.feed(Event.MOVED, there=7)
    assert machine.state is State.LEAVING
    assert [(one.act, one.bytes) for one in actions] == [(Act.TELL_IN, 0), (Act.ORDER_OUT, 7)]


def test_an_order_to_move_out_is_answered_though_nothing_came_ahead() -> None:
    machine = to_leave()
    _, actions = machine.feed(Event.MOVED, there=0)
    assert [one.act for one in actions] == [Act.TELL_IN, Act.ANSWER]


def test_a_turn_that_begins_takes_what_came_ahead() -> None:
    machine = at(State.FETCHING)
    _, actions = machine.feed(Event.GRANT, turn=TURN, must_fill=True, missing=3)
    assert machine.state is State.FILLING
    assert [one.act for one in actions][-2:] == [Act.SET_MISSING, Act.ORDER_FILL]
    machine = at(State.FETCHING)
    machine.feed(Event.GRANT, turn=TURN)
    assert machine.state is State.OPEN
    assert [one.act for one in machine.feed(Event.MOVED)[1]] == [Act.TELL_IN]


def test_no_gate_opens_by_itself_while_memory_comes_ahead() -> None:
    machine = at(State.FETCHING)
    _, actions = machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    assert [one.act for one in actions] == [Act.ARM_SESSION]
    machine = at(State.CLOSED)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    _, actions = machine.feed(Event.FILL, bytes=10, away=5)
    assert machine.state is State.CLOSED
    assert [one.act for one in actions] == [Act.ANSWER]


@pytest.mark.parametrize("state", [State.CLOSED, State.LEAVING])
@pytest.mark.parametrize("fills", [False, True])
def test_a_standby_brings_a_turn(state: State, *, fills: bool) -> None:
    machine = at(state)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3, must_fill=fills)
    check(machine, plain(Event.HANDED, must_fill=fills), "F" if fills else "O")
    assert machine.turn == TURN


@pytest.mark.parametrize("state", [State.CLOSED, State.LEAVING])
def test_evict_with_a_gate_that_opens_by_itself(state: State) -> None:
    machine = at(state)
    machine.feed(Event.STANDBY, turn=TURN, descriptor=3)
    check(machine, PLAYS["evict"], "C" if state is State.CLOSED else "L")
    begun = machine.copy()
    check(machine, plain(Event.DISARMED, there=100), "L")
    check(begun, plain(Event.HANDED), "O")
