"""Machines in every state, brought there by the same events as a client's."""

from nvshare.machine import Event, Machine, State

# The turn that a holding machine has, and the one that it had before.
TURN, BEFORE = 7, 5
IDLE_NS = 1000


def at(
    state: State, *, evict: int = 0, displaces: bool = False, is_explicit: bool = False
) -> Machine:
    """Return a machine in this state; ``evict`` is the size in its order to give way."""
    machine = Machine()
    if state is State.NEW:
        return machine
    if state is State.ALONE:
        machine.feed(Event.LOST)
        return machine
    machine.feed(Event.GREET)
    machine.feed(Event.WELCOME)
    machine.feed(Event.GRANT, turn=BEFORE)
    if state is State.RETURNING:
        machine.feed(Event.LOST, must_fill=True, is_explicit=True)
        return machine
    evicted = 50 if state is State.LEAVING else 0
    machine.feed(Event.REVOKE, turn=BEFORE, is_urgent=True, bytes=evicted)
    machine.feed(Event.DRAINED, there=100)
    if state is State.FETCHING:
        machine.feed(Event.FILL, bytes=30, away=50)
    if state is State.WAITING:
        machine.feed(Event.LOST, may_wait=True)
    if state in (State.WAITING, State.CLOSED, State.LEAVING, State.FETCHING):
        return machine
    fills = state in (State.FILLING, State.STOPPING)
    machine.feed(Event.GRANT, turn=TURN, must_fill=fills, bytes=30, missing=10)
    if state is State.GROWING:
        machine.feed(Event.GROW, missing=20)
    asked = state in (State.WATCHED, State.CLOSING, State.STOPPING)
    if asked or evict:
        machine.feed(
            Event.REVOKE,
            turn=TURN,
            is_urgent=state in (State.CLOSING, State.STOPPING),
            bytes=evict,
            idle_ns=IDLE_NS,
            displaces=displaces,
            is_explicit=is_explicit,
        )
    if state in (State.HOLDING, State.HELD):
        machine.feed(Event.HOLD, turn=TURN)
    if state is State.HELD:
        machine.feed(Event.DRAINED)
    return machine


def holding_short(state: State) -> Machine:
    """Return a machine that was told to hold while its memory was coming."""
    machine = at(State.FILLING)
    machine.feed(Event.HOLD, turn=TURN)
    if state is State.HELD:
        machine.feed(Event.DRAINED, waits=True)
    assert machine.state is state
    return machine
