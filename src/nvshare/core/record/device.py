"""What a device remembers beside its clients, and a copy of everything: the snapshot.

Plain data, so that a journal can begin with it.
"""

from copy import copy
from dataclasses import dataclass, field
from enum import Enum

from nvshare.core.effects import Handover
from nvshare.core.events import TimerKind
from nvshare.core.record.client import Client
from nvshare.core.record.pace import Pace
from nvshare.core.record.use import Use, UseClock
from nvshare.core.record.ways import Ways
from nvshare.core.settings import Settings


class RegimeName(Enum):
    """The names of the ways of sharing a device (regimes/)."""

    TOGETHER = "together"
    MEMORY = "memory"
    ONE = "one"
    BUSY = "busy"
    RANKED = "ranked"


@dataclass(slots=True)
class DeviceState:
    """The state of one device's scheduler."""

    id: str
    usable_bytes: int
    settings: Settings
    # How it is shared at present.
    regime: RegimeName
    pace: Pace
    # No turn is granted before.
    reconnect_until: float
    # When the present turn began, and when it ends if a client waits for its end.
    turn_started: float
    deadline: float | None = None
    # Whether all clients that take turns were busy when the deadline was set.
    is_steady: bool = False
    # The most that the turn may last, if it has interrupted another.
    turn_limit: float | None = None
    # The turn lasts at least until then: its memory has to come in first (turns/end.py).
    kept_until: float = 0.0
    # The last turn that was given a number.
    last_turn: int = 0
    # The client that waits for the end of the turn and will run after it. It stays the head until
    # it runs or leaves, or until a client comes that may go before it.
    head: int | None = None
    # When the head may interrupt the turn (precedence/); and the clock of recent use.
    interrupt_at: float | None = None
    use_clock: UseClock = field(default_factory=UseClock)
    # The use of owners whose last clients have left.
    left_uses: dict[str, Use] = field(default_factory=dict)
    # Bytes that outsiders have on the device.
    outside_bytes: int = 0
    # Whether a client waits for memory of others that cannot leave.
    is_held_up: bool = False
    # The last hand-over that was ordered, while it stands.
    handover: Handover | None = None
    ways: Ways = field(default_factory=Ways)
    # Clients whose memory has left in their turns, and may come back: so that a client of a gang
    # could step, or pushed out by others (turns/drain.py).
    lenders: tuple[int, ...] = ()
    # Bytes of room that clients with incoming memory wait for; when that last became less; and
    # whether they were told not to wait any longer.
    room_lacking: int = 0
    room_since: float | None = None
    room_waived: bool = False
    # How often a turn for memory was given up, and how often a slice.
    turn_changes: int = 0
    slices: int = 0
    # Bytes that the context of one more program takes; and bytes that each may gain unasked.
    context_bytes: int = 0
    unasked_bytes: int = 0
    alarms: dict[TimerKind, float] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether the clients of an earlier daemon had time to come back, and it was seen to."""
        return TimerKind.RECONNECT not in self.alarms

    def number_turn(self) -> int:
        """Return the number of a new turn."""
        self.last_turn += 1
        return self.last_turn

    def copy(self) -> "DeviceState":
        """Return a copy that no event will change."""
        twin = copy(self)
        twin.pace = copy(self.pace)
        twin.use_clock, twin.left_uses = copy(self.use_clock), dict(self.left_uses)
        twin.ways, twin.alarms = copy(self.ways), dict(self.alarms)
        return twin


@dataclass(slots=True)
class Pool:
    """Host memory that some clients share: a memory cgroup with a limit.

    ``room`` is what could be charged to it when it was last read. ``charged`` has its clients, with
    the bytes that had surely left for the host by then, and so were charged.
    """

    limit: int
    room: int
    charged: dict[int, int] = field(default_factory=dict)
    # The limit's name for users.
    what: str = "its memory cgroup's limit"


@dataclass(slots=True)
class HostState:
    """How much may leave all devices for the host, and whether more has."""

    limit: int | None = None
    exceeded: bool = False
    pools: dict[str, Pool] = field(default_factory=dict)

    def copy(self) -> "HostState":
        """Return a copy that no event will change."""
        pools = {
            name: Pool(pool.limit, pool.room, dict(pool.charged), pool.what)
            for name, pool in self.pools.items()
        }
        return HostState(self.limit, self.exceeded, pools)


@dataclass(frozen=True, slots=True)
class DeviceSnapshot:
    """One device at one moment. Clients in the order in which they came to their states."""

    state: DeviceState
    clients: tuple[Client, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A node at one moment."""

    devices: tuple[DeviceSnapshot, ...] = ()
    host: HostState = field(default_factory=HostState)
