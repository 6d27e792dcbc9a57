"""What the core knows about one client: a record. clients/roster.py keeps the sums of these."""

from collections.abc import Iterable
from copy import copy
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from operator import attrgetter

from nvshare.core.effects import NO_SHARE, Share
from nvshare.core.lease import State
from nvshare.core.memory import NO_MEMORY, Kind, Memory
from nvshare.core.record.bill import Bill
from nvshare.core.record.drain import Drain
from nvshare.core.record.excess import Excess
from nvshare.core.record.gang import Hold, InGang
from nvshare.core.record.growth import Growth
from nvshare.core.record.host_pages import HostPages
from nvshare.core.record.moving import Moving
from nvshare.core.record.precedence import Precedence
from nvshare.core.record.rest import Rest
from nvshare.core.record.turn import Turn
from nvshare.core.record.work import Work
from nvshare.core.settings import NO_LIMITS, Limits


class Park(Enum):
    """Why all of a client's memory is to be on the host although no client needs its place."""

    BY_HAND = "by hand"
    """It was parked by hand: it gets no turn until it is unparked by hand."""

    IDLE = "idle"
    """It has been idle for long. It comes back as soon as it has work."""


class Told(Enum):
    """What the log says once, until it has been otherwise."""

    REFUSED = "refused"
    """It was refused memory, and has been allowed none since."""

    APART = "apart"
    """Its group cannot be a gang."""

    UNDRAINED = "undrained"
    """Its work in flight cannot drain."""

    HELD_UP = "held up"
    """It waits for memory of others that cannot leave."""

    STUCK = "stuck"
    """Its own memory cannot leave, while others wait for that."""


@dataclass(slots=True, eq=False)
class Client:
    """One process on one device."""

    id: int
    kind: Kind = Kind.MANAGED
    memory: Memory = NO_MEMORY
    limits: Limits = NO_LIMITS
    # The group that shares these limits, if any; and the share that the client was last told.
    group: str = ""
    share: Share = NO_SHARE
    # It has not been told its limits yet.
    untold: bool = False

    # The owner of its recent use (precedence/), if the shell knows it.
    owner: str = ""
    # It understands Hold.
    can_hold: bool = False

    state: State = State.GONE
    # When it came to this state, and a number that orders all clients by that.
    since: float = 0.0
    order: int = 0
    # The part of the device's capacity that it takes under the present regime.
    weight: int = 0
    # The part that it keeps from others, whether it runs or not.
    taken: int = 0
    # Why it is parked (turns/park.py), and since when.
    park: Park | None = None
    parked_at: float = 0.0
    told: frozenset[Told] = frozenset()

    # Each in a file of its own, whose methods alone change it.
    turn: Turn = field(default_factory=Turn)
    gang: InGang = field(default_factory=InGang)
    hold: Hold = field(default_factory=Hold)
    drain: Drain = field(default_factory=Drain)
    work: Work = field(default_factory=Work)
    bill: Bill = field(default_factory=Bill)
    precedence: Precedence = field(default_factory=Precedence)
    rest: Rest = field(default_factory=Rest)
    moving: Moving = field(default_factory=Moving)
    excess: Excess = field(default_factory=Excess)
    host_pages: HostPages = field(default_factory=HostPages)
    growth: Growth = field(default_factory=Growth)

    def copy(self) -> "Client":
        """Return a copy that no event will change."""
        twin = copy(self)
        for part in _PARTS:
            setattr(twin, part, copy(getattr(self, part)))
        return twin

    def tell(self, what: Told) -> bool:
        """Note that the log says something. Returns whether that is new."""
        is_new = what not in self.told
        self.told |= {what}
        return is_new

    def forget_told(self, what: Told) -> None:
        """Have the log say it again when it is so again."""
        self.told -= {what}

    def held_seconds(self, now: float) -> float:
        """Return for how long it has held turns, without the times that it rested in them."""
        is_on = self.has_turn and not self.gang.rests
        return self.work.held_before + (now - self.turn.granted_at if is_on else 0.0)

    @property
    def tenant(self) -> str:
        """The user or container that its owner belongs to."""
        return self.owner.rpartition("/")[0] or self.owner

    @property
    def place(self) -> tuple[bool, float, int, int]:
        """Its place in the queue: the lowest is served first.

        Visitors come first, unless they have used too much (precedence/). Members of one gang
        differ in the last part only, so that any two gangs are in the same order on all devices.
        """
        gang = -1 if self.gang.number is None else self.gang.number
        return not self.precedence.bursts, self.precedence.rank, gang, self.order

    @property
    def in_gang(self) -> bool:
        """Whether it gets its turns together with others (gangs/)."""
        return self.gang.number is not None

    @property
    def has_share(self) -> bool:
        """Whether its compute is capped."""
        percent = self.limits.compute_percent
        return percent is not None and percent < 100

    @property
    def has_turn(self) -> bool:
        """Whether it has a turn."""
        return self.state is State.RUNNING or self.state is State.YIELDING

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for other clients only."""
        return self.state is State.WAITING and self.park is not Park.BY_HAND

    @property
    def is_present(self) -> bool:
        """Whether it has a turn, or waits for other clients only."""
        return self.has_turn or self.is_waiting

    @property
    def is_yielding(self) -> bool:
        """Whether it was told to give way, and others wait for that."""
        return self.state is State.YIELDING and not self.turn.overdue

    @property
    def is_away(self) -> bool:
        """Whether it is parked, and its gate closed: it competes for nothing."""
        return self.park is not None and not self.has_turn

    @property
    def is_barred(self) -> bool:
        """Whether it gets no turn, although it waits for one."""
        return self.park is Park.BY_HAND and self.state is State.WAITING

    @property
    def present(self) -> int:
        """Swappable bytes on the device.

        A client with a turn is assumed to have in all that there is room for: memory that it
        touches comes in by itself, without a report.
        """
        if not self.has_turn:
            return self.memory.resident
        size = self.memory.swappable
        return size if self.moving.filled is None else min(size, self.moving.filled)

    @property
    def leaving(self) -> int:
        """The bytes of ``present`` that were ordered out."""
        return min(self.moving.evicting, self.present) if self.moving.evicting else 0

    @property
    def staying(self) -> int:
        """The bytes of ``present`` that were not ordered out."""
        return self.present - self.leaving

    @property
    def inside(self) -> int:
        """``staying``, without newly gained memory that it gives way for and has not used."""
        if self.state is not State.YIELDING:
            return self.staying
        return max(0, self.staying - self.growth.unused)

    @property
    def hosted(self) -> int:
        """The bytes that are on the host now.

        That is not all that is away: memory allocated behind a closed gate is nowhere yet. Memory
        that was moved out in a turn may or may not have come back.
        """
        size = self.memory.swappable
        away = size - self.present
        if not self.has_turn:
            return min(away - self.memory.untouched, self.host_pages.most_out)
        return max(min(away, self.host_pages.most_out), min(self.excess.trims, size))

    @property
    def booked(self) -> int:
        """The bytes that the host keeps for it, or will once its orders are carried out."""
        going = max(self.leaving, self.moving.offered)
        return min(self.memory.swappable, max(self.host_pages.most_out, self.hosted + going))

    @property
    def charged(self) -> int:
        """The part of ``booked`` that was surely charged to a cgroup.

        A client holds the host memory that was made for it, in use or not.
        """
        paid = self.memory.kept if self.kind is Kind.EXPLICIT else self.host_pages.surely_out
        return min(paid, self.memory.swappable)

    @property
    def spare(self) -> int:
        """The part of ``booked`` for memory on the device, which can leave at no cost."""
        return self._backed - self.hosted - self.leaving

    @property
    def reserved(self) -> int:
        """The part of ``booked`` for memory that it may move out by itself, without an order."""
        return self.booked - self._backed

    @property
    def _backed(self) -> int:
        return min(self.memory.swappable, max(self.host_pages.most_out, self.hosted + self.leaving))


def in_order(clients: Iterable[Client]) -> list[Client]:
    """Return clients in the order in which they came to their states.

    A snapshot keeps this order only. So where several clients are given orders, they go by it:
    otherwise a journal that begins with a snapshot could not be replayed.
    """
    return sorted(clients, key=attrgetter("order"))


_PARTS = tuple(one.name for one in fields(Client) if one.default_factory is not MISSING)
