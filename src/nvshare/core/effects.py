"""Everything the core can order. The shell carries effects out, in order, and decides nothing.

Clients keep these rules, so that orders are safe whatever crosses on the way:

* A Grant whose turn is not higher than the last turn seen is void. So a client that was woken
  by the holder before it ignores the Grant that follows.
* Revoke, Keep, Hold, StepOnce, Handover and CancelHandover name the turn they are about, and are
  void for a client that does not hold it.
* A Handover is void after Keep or CancelHandover, and when the connection is lost.
"""

from dataclasses import dataclass
from enum import Enum

from nvshare.core.events import Timer
from nvshare.core.settings import Limits


class Urgency(Enum):
    """When a turn has to be given up."""

    WHEN_IDLE = "when idle"
    NOW = "now"


class Verdict(Enum):
    """Whether memory may be allocated."""

    YES = "yes"
    HOST_FULL = "host full"
    """No: the host has no room for the memory that would have to leave the device."""
    TOO_LARGE = "too large"
    """No: all of the memory has to be on the device at once, and the device has no room for it."""
    NOT_NOW = "not now"
    """No context at present: the memory of another client could not come back beside it."""


class ReportKind(Enum):
    """The kind of a line in the log."""

    SPLIT = "split"
    OVERDUE = "overdue"
    UNDRAINED = "cannot drain"
    OVERCOMMITTED = "overcommitted"
    # Refusals have the names of their verdicts.
    HOST_FULL = "host full"
    TOO_LARGE = "too large"
    NOT_NOW = "not now"
    HELD_UP = "held up"
    STUCK = "cannot leave"
    APART = "not a gang"


@dataclass(frozen=True, slots=True)
class Effect:
    """An order of the core."""


@dataclass(frozen=True, slots=True)
class Grant(Effect):
    """Open the client's gate.

    ``fill_bytes`` is how much of its memory to bring in before; 0: all of it. It is set for a
    client that has more than the device can hold, or than its limit. Others have still to make room
    for ``missing`` bytes of it; Room follows as they do.
    """

    client: int
    turn: int
    fill_bytes: int = 0
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Room(Effect):
    """Tell a client that brings memory in how much of it still has no room."""

    client: int
    turn: int
    missing: int


@dataclass(frozen=True, slots=True)
class Revoke(Effect):
    """Have the client give its turn up, and move ``evict_bytes`` to the host as it does.

    WHEN_IDLE: as soon as it has had nothing to do for ``idle_seconds``. NOW: at once. With
    ``displace`` it only takes note that so much of its memory will be pushed out by the next one.
    """

    client: int
    turn: int
    urgency: Urgency
    evict_bytes: int = 0
    idle_seconds: float = 0.0
    displace: bool = False


@dataclass(frozen=True, slots=True)
class Keep(Effect):
    """Take back Revoke or Hold, and the Handover with it: no client waits any more."""

    client: int
    turn: int


@dataclass(frozen=True, slots=True)
class Hold(Effect):
    """Close the client's gate and let its work in flight end. It keeps its turn and its memory.

    It answers with Held, or with CannotDrain. Revoke or Keep end it.
    """

    client: int
    turn: int


@dataclass(frozen=True, slots=True)
class StepOnce(Effect):
    """Have a client that is held let one call pass its closed gate. It answers with Held again."""

    client: int
    turn: int


@dataclass(frozen=True, slots=True)
class Handover(Effect):
    """Tell a client which client to wake when it releases its turn, and with which turn.

    It replaces an earlier Handover. The core grants the same turn to the same client when it hears
    of the release, so a wake that fails, or a client that dies before it, costs time only.
    """

    from_client: int
    from_turn: int
    to_client: int
    turn: int
    # As in Grant.
    fill_bytes: int = 0
    missing: int = 0


@dataclass(frozen=True, slots=True)
class CancelHandover(Effect):
    """Tell a client to wake no other. If it has done so already, its Released says so."""

    from_client: int
    from_turn: int


@dataclass(frozen=True, slots=True)
class Evict(Effect):
    """Have a client that does not run move memory to the host. It answers with Moved."""

    client: int
    evict_bytes: int


@dataclass(frozen=True, slots=True)
class Trim(Effect):
    """Have a running client move memory to the host, the least recently used first.

    Memory that it uses again comes back by itself.
    """

    client: int
    trim_bytes: int


@dataclass(frozen=True, slots=True)
class Provide(Effect):
    """Have host memory made for a client that copies its memory out itself.

    The size is the whole that it should have, never a change. Memory that it holds already counts.
    """

    client: int
    host_bytes: int


@dataclass(frozen=True, slots=True)
class Answer(Effect):
    """Tell a client that has asked whether it may allocate. It comes after all other effects.

    ``missing`` is what others are still to move out until all running clients have room. It is 0
    for a client that does not run: it waits for a turn in any case. A request for a context is
    answered when there is room for it (moves/room.py).
    """

    client: int
    ticket: int
    verdict: Verdict = Verdict.YES
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """A client's present share of compute. None: there is no cap.

    ``window`` is the time over which it is kept, in seconds. ``own`` is the part of the time
    measured by the client's events that is its own, and not that of clients beside it.
    ``copies``: they count as well.
    """

    percent: float | None = None
    window: float = 0.0
    own: float = 1.0


NO_SHARE = Share()


@dataclass(frozen=True, slots=True)
class SetLimits(Effect):
    """Tell the client what it may use."""

    client: int
    limits: Limits
    share: Share = NO_SHARE


@dataclass(frozen=True, slots=True)
class SetTimer(Effect):
    """Send TimerFired at this time. It replaces an earlier one of the same name."""

    timer: Timer
    at: float


@dataclass(frozen=True, slots=True)
class CancelTimer(Effect):
    """The timer is not needed any more."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class Report(Effect):
    """Something an operator should know. The log line names the client in its own words.

    A report that concerns all devices names none.
    """

    kind: ReportKind
    device: str
    client: int | None
    text: str
