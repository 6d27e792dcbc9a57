"""A node at one moment, as the control API gives it. Every view is drawn from it.

Times are in seconds, sizes in bytes. Durations count up to the moment of the snapshot.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from nvshare.settings import ClientLimits, DeviceSettings, NodeSettings

if TYPE_CHECKING:
    from typing_extensions import Self

Parked: TypeAlias = Literal["by hand", "idle"]
# Why a program was refused memory: the first two by the library in it, the others by the daemon.
Refused: TypeAlias = Literal[
    "memory limit", "size of the GPU", "too large at once", "host full", "context"
]


class _Model(BaseModel):
    # A newer daemon may send fields that an older command line does not know.
    model_config = ConfigDict(extra="ignore", frozen=True)
    _all_fields: ClassVar[set[str]]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls._all_fields = set(cls.model_fields)

    @classmethod
    def of_known(cls, values: dict[str, Any]) -> "Self":
        """Make one from all of its fields, which are known to be valid: nothing is checked.

        For the daemon, which makes hundreds per tick from its own numbers. Pydantic's own
        model_construct looks at every field, and takes longer than validation.
        """
        made = cls.__new__(cls)
        put = object.__setattr__
        put(made, "__dict__", values)
        put(made, "__pydantic_fields_set__", cls._all_fields)
        put(made, "__pydantic_extra__", None)
        put(made, "__pydantic_private__", None)
        return made


class TimeParts(_Model):
    """What time went to, in seconds. The parts add up to all of it (docs/looking.md)."""

    computing: float = 0.0
    waiting: float = 0.0
    held_back: float = 0.0
    memory_in: float = 0.0
    memory_out: float = 0.0
    thrashing: float = 0.0
    idle: float = 0.0

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return float(sum(self.model_dump().values()))


class Recent(_Model):
    """The last minute of a program, or as much of it as the program was there for."""

    seconds: float = 0.0
    attribution: TimeParts = TimeParts()
    launches: int = 0
    moved_in: int = 0
    moved_out: int = 0
    # How much of each second it computed, in percent; the newest is the last.
    computing_percent: tuple[int, ...] = ()


class ClientStatus(_Model):
    """One process on one GPU."""

    id: int
    device: str
    pid: int
    uid: int
    # The name of that user on the daemon's machine, or the number.
    user: str = ""
    program: str
    pod: str
    container: str
    # The cluster's names, once they are known.
    pod_name: str = ""
    container_name: str = ""
    # The group that shares its limits.
    group: str
    library_version: str
    allocation: Literal["managed", "explicit", "native", "mixed"]
    # Why, if it is not simply the GPU's setting; and the kind that its pod, its environment or that
    # setting requests now, if that differs: it holds for the next process.
    allocation_because: str = ""
    allocation_next: str = ""

    state: Literal["idle", "waiting", "running", "yielding"]
    state_seconds: float
    connected_seconds: float
    overdue: bool
    # It was ordered to give way, and cannot: its work waits for its own next calls.
    cannot_drain: bool = False
    # It is among those that page against each other (DeviceStatus.thrashing).
    thrashes: bool = False
    # Why it is parked, if it is; and for how long.
    parked: Parked | None = None
    parked_seconds: float = 0.0

    allocated: int
    pinned: int
    # Why that cannot leave the GPU, as far as it reports: bytes by the names of frame PINNED.
    pinned_by: dict[str, int] = {}
    swapped_out: int
    # The memory that it holds beside that: its context, its modules, what its pools keep. Measured,
    # or assumed where the GPU does not tell.
    context: int = 0
    # Host memory that is kept for it, after its memory was out once or ahead of that; and memory
    # that could not leave the GPU, and why.
    kept: int = 0
    stuck: int = 0
    stuck_because: str = ""
    # Whether it waits because the host is short of memory, and why that is so.
    held_up: bool = False
    held_up_because: str = ""
    # Whether it has its turns together with its group's processes on other GPUs; and if it waits,
    # the GPUs that have no room for them.
    in_gang: bool = False
    gang_waits_for: tuple[str, ...] = ()
    limits: ClientLimits
    # The limits that the ceiling of its pod's namespace has cut.
    capped: tuple[str, ...] = ()
    # The memory that its group uses on this GPU.
    group_used: int = 0

    turns: int
    running_seconds: float
    waited_seconds: float
    longest_wait_seconds: float
    moved_out: int
    moved_in: int
    moving_seconds: float
    # How often it was refused memory, and why.
    refusals: int = 0
    refusals_by: dict[Refused, int] = {}
    busy_seconds: float
    launches: int
    throttled_seconds: float
    # GPU time that it has used while it had a share, as its events measured it.
    gpu_seconds: float = 0.0
    # Its effective share now, in percent; None: it has none. And how much of the GPU's time it has
    # used in the last 1, 10 and 60 seconds.
    share: float | None = None
    used_percent: dict[int, float] = {}
    # What its time went to since it connected, and lately.
    attribution: TimeParts = TimeParts()
    recent: Recent = Recent()


class GroupUse(_Model):
    """A group on one GPU."""

    device: str
    used: int
    swapped_out: int
    # The limit was lowered below the use: nothing can be allocated until the use is less.
    over_limit: bool


class GroupStatus(_Model):
    """Processes that share their limits: a container, a run, or a single process."""

    key: str
    name: str
    # The ids of its clients, by which users name it; and the pids of its processes.
    ids: tuple[int, ...] = ()
    pids: tuple[int, ...]
    limits: ClientLimits
    # The source of each limit in force.
    sources: dict[str, Literal["environment", "set", "pod", "ceiling"]]
    uses: tuple[GroupUse, ...]
    # Parked by hand: it gets no turn.
    parked: bool = False
    # Why a restart of the daemon loses the limits that were set; empty: it does not.
    unstored: str = ""


class Totals(_Model):
    """What the programs of one GPU add up to, with those that are gone, since the daemon began.

    The fields are those of ClientStatus; ``clients`` is how many there have been.
    """

    clients: int = 0
    turns: int = 0
    running_seconds: float = 0.0
    waited_seconds: float = 0.0
    moved_out: int = 0
    moved_in: int = 0
    moving_seconds: float = 0.0
    refusals: int = 0
    refusals_by: dict[Refused, int] = {}
    busy_seconds: float = 0.0
    launches: int = 0
    throttled_seconds: float = 0.0
    gpu_seconds: float = 0.0
    attribution: TimeParts = TimeParts()


class OutsideProcess(_Model):
    """A process that uses a GPU without nvshare."""

    pid: int
    uid: int | None = None
    program: str = ""
    memory: int


class Thrashing(_Model):
    """Programs that run at the same time, do not fit together, and so page against each other.

    They have been standing still for so long. One program alone pages against itself.
    """

    seconds: float
    # Their ids.
    programs: tuple[int, ...]
    # The memory that they have together, and the room that the GPU has for it.
    memory: int
    room: int


class DeviceStatus(_Model):
    """One GPU."""

    index: int
    uuid: str
    name: str
    memory: int
    usable: int
    allocated: int
    settings: DeviceSettings

    clients: int
    running: int
    # Programs parked by hand do not count: they wait for a user.
    waiting: int
    parked: int = 0
    # Turns given up for memory; turns given up for other reasons; and how many of both went
    # directly from one program to the next.
    turn_changes: int
    slices: int
    handovers: int
    turn_seconds: float
    turn_ends_in: float | None
    bandwidth: float
    totals: Totals = Totals()
    # If it is lost, for how long, and why.
    lost_seconds: float | None = None
    lost_because: str = ""
    # The processes that use it without nvshare. Their memory is not usable.
    outside: tuple[OutsideProcess, ...] = ()
    # The programs that page against each other now; None: none do.
    thrashing: Thrashing | None = None


class MissingGpu(_Model):
    """A GPU of the machine that is not shared, because it cannot be: why, and for how long.

    It is lost, NVML does not support it, or another daemon has it. The UUID may be unknown.
    """

    index: int
    uuid: str = ""
    why: str
    seconds: float


class HostStatus(_Model):
    """The host's memory, as far as the GPUs use it."""

    # The most that may be kept on it; what is kept, having left a GPU once; what is there now.
    limit: int
    kept: int
    swapped_out: int


class NodeStatus(_Model):
    """All of it."""

    version: str
    pid: int
    uptime_seconds: float
    settings: NodeSettings
    host: HostStatus
    devices: tuple[DeviceStatus, ...]
    clients: tuple[ClientStatus, ...]
    groups: tuple[GroupStatus, ...] = ()
    missing: tuple[MissingGpu, ...] = ()
