"""Everything that can happen, as facts. The shell makes events; ``Core.handle`` takes them.

``now`` is monotonic time in seconds. The core knows no other clock.
"""

from dataclasses import dataclass
from enum import Enum

from nvshare.core.memory import NO_MEMORY, Kind, Memory
from nvshare.core.settings import DEFAULTS, NO_LIMITS, Limits, Settings


class Reason(Enum):
    """Why a client gave its turn up."""

    IDLE = "idle"
    """It was idle, and had been asked to give way when idle."""

    TOLD = "told"
    """It was told to give way at once."""

    USED_UP = "used up"
    """It has used up its share of compute for now, and had been asked to give way."""


class TimerKind(Enum):
    """What a timer is for."""

    TURN = "turn"
    PATIENCE = "patience"
    RECONNECT = "reconnect"
    SHARE = "share"
    ROOM = "room"
    PARK = "park"
    GROWTH = "growth"
    UNDRAINED = "undrained"
    STEP = "step"
    DRAIN = "drain"


@dataclass(frozen=True, slots=True)
class Timer:
    """The name of a timer: there is at most one of each kind per device."""

    device: str
    kind: TimerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something has happened."""

    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMemoryChanged(Event):
    """The operator has changed how much may leave the devices for the host. None: no limit."""

    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoomChanged(Event):
    """The room in a memory cgroup has changed, for the memory of these clients.

    ``room`` is what is free there now, without regard to memory on its way. None: the cgroup has no
    limit any more, or no clients. Clients may be named that have not joined yet. Cgroups are
    nested: a client may be in several. ``what`` is the limit's name for users.
    """

    pool: str
    room: int | None
    limit: int = 0
    clients: tuple[int, ...] = ()
    what: str = "its memory cgroup's limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceEvent(Event):
    """Something has happened to a device."""

    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientEvent(Event):
    """Something has happened to a client."""

    client: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAdded(DeviceEvent):
    """There is a GPU. ``usable_bytes`` is what clients may fill, contexts included.

    After a restart the shell sets ``reconnect_seconds``: during this time no turn is granted, so
    that clients with open gates can register before waiting clients are let in.
    """

    usable_bytes: int
    settings: Settings = DEFAULTS
    reconnect_seconds: float = 0.0
    # The part that the context of one more program takes; and what each may gain without asking.
    context_bytes: int = 0
    unasked_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChanged(DeviceEvent):
    """The operator has changed the settings, or the usable memory has changed."""

    settings: Settings
    usable_bytes: int | None = None
    context_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideChanged(DeviceEvent):
    """The memory that outsiders have on a device has changed. Clients cannot fill it."""

    outside_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientJoined(ClientEvent):
    """A process has registered for a device.

    ``running``: its gate is open already, because it was under management before the daemon
    restarted, or ran unmanaged. ``turn`` is then the turn it holds, 0 if it never had one.
    """

    device: str
    memory: Memory = NO_MEMORY
    kind: Kind = Kind.MANAGED
    running: bool = False
    turn: int = 0
    # Its gate is open although no daemon has given it a turn.
    ungranted: bool = False
    limits: Limits = NO_LIMITS
    # Clients of the same group share their limits. Without a group, a client has its own.
    group: str = ""
    # As by ParkChanged.
    parked: bool = False
    # It understands Hold and StepOnce.
    can_hold: bool = False
    # The owner of its recent use, however often it registers
    # (precedence/); and whether it was here before, and so is no newcomer.
    owner: str = ""
    returns: bool = False
    # Its claim to an open gate is not believed: it is told to give way, and no client waits for it.
    doubted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLeft(ClientEvent):
    """The process has ended, or its connection is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted(ClientEvent):
    """There is work at the client's closed gate.

    ``turn`` is the last turn it has seen, 0 for none. It distinguishes a client that sends this
    between closing its gate and Released from one whose grant was on its way.
    """

    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Released(ClientEvent):
    """The client has given its turn up: its gate is closed and nothing is in flight.

    ``memory`` is what it has now. Memory on its way to the host counts as swapped, and ``left`` is
    how much of it has not left yet.
    ``moved_bytes`` and ``seconds`` measure what it has moved before this message, if anything.
    ``wants``: there is work at the gate. ``handed_to`` and ``handed_turn`` repeat the Handover
    that it has carried out.
    """

    turn: int
    reason: Reason
    memory: Memory
    wants: bool = False
    moved_bytes: int = 0
    seconds: float = 0.0
    handed_to: int | None = None
    handed_turn: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CannotDrain(ClientEvent):
    """The client's work in flight waits for its own next calls, so its gate is open again.

    It holds its turn as if it had never been told to give way.
    """

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CanDrain(ClientEvent):
    """The work that could not drain has ended."""

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Held(ClientEvent):
    """The client was told to hold: its gate is closed, and nothing is in flight. It keeps its turn.

    It comes after Hold, and again after each StepOnce. ``waits``: a thread waits at the gate. If
    none did, and one comes later, Held is repeated with that. A Held that has crossed with a Keep,
    a Revoke or another Hold or StepOnce does not reach the core: frames are numbered for that. The
    same is true of CannotDrain.
    """

    turn: int
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanged(ClientEvent):
    """The client has allocated or freed.

    With a ``ticket`` it has not yet: it asks whether it may have ``memory``, and waits for the
    Answer. A refusal leaves its memory as it was.
    ``for_context``: the new memory is a context that the driver found no room for. It is pinned,
    and no driver makes room for it, so the Answer comes when there is room.
    """

    memory: Memory
    ticket: int = 0
    for_context: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(ClientEvent):
    """The client has moved memory in bulk, and measured it. The answer to Evict, too.

    Bytes and seconds are those since its last report. ``left`` is as in Released: while it is more
    than 0, there is more to come.
    """

    turn: int
    memory: Memory
    out_bytes: int = 0
    in_bytes: int = 0
    seconds: float = 0.0
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Used(ClientEvent):
    """The time for which the client has had work on the device, and was held back by its share.

    Both counters only grow.
    """

    busy_seconds: float
    throttled_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported(ClientEvent):
    """The same counters, as a client reports them periodically.

    A report becomes Used if it can make a difference (shares/report_filter.py), and is dropped
    otherwise.
    """

    busy_seconds: float
    throttled_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Given(ClientEvent):
    """The time that the device worked for the client since its last report, by its own count.

    None: the device begins to report.
    """

    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsChanged(ClientEvent):
    """The operator has changed what the client may use."""

    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkChanged(ClientEvent):
    """The operator has parked the client, or taken that back.

    A parked client has all its memory on the host and gets no turn. Repeating the event changes
    nothing.
    """

    parked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KindChanged(ClientEvent):
    """The client uses another allocation kind from now on."""

    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLimitChanged(ClientEvent):
    """The part of the client's memory that is beyond its limit, and is to be on the host.

    The core works it out itself where the setting ``swap_excess`` says so (moves/over_limit.py).
    Older journals contain it.
    """

    over_limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDenied(ClientEvent):
    """No more host memory could be made for the client than it reports to have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerFired(Event):
    """The time that SetTimer named has come. A late or needless one does no harm."""

    timer: Timer
