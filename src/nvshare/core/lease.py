"""The life of a client as a table: which state it may go to, by which step.

A client is one process on one device. Its gate in the interposer is open or closed:

IDLE      The gate is closed and the client has nothing to run. It may still have memory.
WAITING   The gate is closed and there is work at it.
RUNNING   The gate is open. The client may run without a message, so RUNNING does not mean busy. It
          may have been asked to give the turn up as soon as it is idle.
YIELDING  It was told to give the turn up now: the gate is closed, work in flight drains, and
          memory moves out. It holds its memory until it reports that it has released the turn. A
          client of a gang (gangs/) is told to hold first: its gate closes, and nothing else
          happens yet.
GONE      The core does not know it yet, or not any more. It holds nothing.

Every permission to run has a number, the turn. Messages cross on their way, so an order that
names another turn than the one a client holds is void.

A step that is not in the table raises IllegalTransition before anything has changed.
"""

from collections.abc import Sequence
from enum import Enum


class State(Enum):
    """Where a client is in its life."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    YIELDING = "yielding"
    GONE = "gone"


class Step(Enum):
    """A change of a client's state, by its own message or by a decision of the core."""

    JOIN = "join"
    ADOPT = "adopt"
    WANT = "want"
    GRANT = "grant"
    ASK = "ask"
    KEEP = "keep"
    HOLD = "hold"
    REVOKE = "revoke"
    CANNOT_DRAIN = "cannot drain"
    RELEASE = "release"
    RELEASE_WANTING = "release wanting"
    LEAVE = "leave"


TRANSITIONS: dict[tuple[State, Step], State] = {
    (State.GONE, Step.JOIN): State.IDLE,
    # It registers again after the daemon was away, and its gate is open.
    (State.GONE, Step.ADOPT): State.RUNNING,
    (State.IDLE, Step.WANT): State.WAITING,
    (State.IDLE, Step.GRANT): State.RUNNING,
    (State.IDLE, Step.LEAVE): State.GONE,
    (State.WAITING, Step.WANT): State.WAITING,
    (State.WAITING, Step.GRANT): State.RUNNING,
    (State.WAITING, Step.LEAVE): State.GONE,
    # The client asked while the grant was on its way to it, or it is about to release.
    (State.RUNNING, Step.WANT): State.RUNNING,
    (State.RUNNING, Step.ASK): State.RUNNING,
    (State.RUNNING, Step.KEEP): State.RUNNING,
    (State.RUNNING, Step.HOLD): State.YIELDING,
    (State.RUNNING, Step.REVOKE): State.YIELDING,
    (State.RUNNING, Step.RELEASE): State.IDLE,
    (State.RUNNING, Step.RELEASE_WANTING): State.WAITING,
    (State.RUNNING, Step.LEAVE): State.GONE,
    # Work has arrived at the gate that has just closed.
    (State.YIELDING, Step.WANT): State.YIELDING,
    # It was told to hold, and need not give way after all.
    (State.YIELDING, Step.KEEP): State.RUNNING,
    # Its gate is open again: its work in flight waits for its next calls.
    (State.YIELDING, Step.CANNOT_DRAIN): State.RUNNING,
    (State.YIELDING, Step.RELEASE): State.IDLE,
    (State.YIELDING, Step.RELEASE_WANTING): State.WAITING,
    (State.YIELDING, Step.LEAVE): State.GONE,
}


class IllegalTransition(Exception):  # noqa: N818  (it is a step, named as the table names it)
    """A client did what its state does not allow. ``journal`` has its last entries, as JSON."""

    def __init__(self, client: int, state: State, what: str) -> None:
        super().__init__(client, state, what)
        self.client = client
        self.state = state
        self.what = what
        self.journal: Sequence[str] = ()

    def __str__(self) -> str:
        told = "".join(f"\n  {line}" for line in self.journal)
        return (
            f"client {self.client} is {self.state.value}, which does not allow: {self.what}{told}"
        )


def next_state(client: int, state: State, step: Step) -> State:
    """Look a step up in the table."""
    try:
        return TRANSITIONS[state, step]
    except KeyError:
        raise IllegalTransition(client, state, step.value) from None
