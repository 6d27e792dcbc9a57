"""What the core knows about one client: a record. clients/roster.py keeps the sums of these."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from math import inf
from operator import attrgetter

from nvshare.core.effects import NO_SHARE, Share
from nvshare.core.lease import State
from nvshare.core.memory import NO_MEMORY, Kind, Memory
from nvshare.core.record.use import Use
from nvshare.core.settings import NO_LIMITS, Limits

NO_USE = Use()


class Park(Enum):
    """Why all of a client's memory is to be on the host although no client needs its place."""

    BY_HAND = "by hand"
    """It was parked by hand: it gets no turn until it is unparked by hand."""

    IDLE = "idle"
    """It has been idle for long. It comes back as soon as it has work."""


class Hold(Enum):
    """How far a gang's client is that was told to hold (gangs/give_way.py)."""

    TOLD = "told"
    """Its gate is closed. As far as is known, it still has work in flight."""

    HELD = "held"
    """Its gate is closed, and it has no work in flight."""

    STEPS = "steps"
    """It had no work in flight, and was then told to let one call pass."""


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

    # The owner of its recent use (precedence/), if the shell knows it.
    owner: str = ""

    # It understands Hold. The number of its gang (gangs/), if any; and whether another member of
    # the gang on this device counts for both where clients are counted.
    can_hold: bool = False
    gang: int | None = None
    rides: bool = False
    # The log has said that its group cannot be a gang.
    told_apart: bool = False
    # It gave its turn up because it was idle, and its gang has not: its place is kept.
    rests: bool = False
    # Its gang waits, and another member could not run now even if all others gave way.
    stalled: bool = False
    # It was told to hold: how far it is, and since when; whether a thread waits at its gate; after
    # which time it is told to step, and when it was last; when others were told to make room for
    # that, if they were; and whether clients of its gang wait for turns, so that it may wait for
    # them.
    hold: Hold | None = None
    hold_since: float = 0.0
    hold_waits: bool = False
    step_patience: float = 0.0
    stepped_at: float = 0.0
    room_asked_at: float | None = None
    awaits_ranks: bool = False

    state: State = State.GONE
    # When it came to this state, and a number that orders all clients by that.
    since: float = 0.0
    order: int = 0

    # The turn it holds, or held last; and one that it may be handed before the core hears of it.
    turn: int = 0
    next_turn: int | None = None
    # It was asked to give way when idle.
    soft_revoked: bool = False
    # It said, while holding a turn, that there is work at its closed gate.
    wants: bool = False
    # It was told to give way, did not, and others go on without it.
    overdue: bool = False

    # Its work in flight cannot drain (turns/undrained.py). It is told nothing until `retry_at`, if
    # that is set. Also: when it was first told to give way since it last could, how often it could
    # not, and whether the log has said so.
    undrained: bool = False
    retry_at: float = 0.0
    undrained_since: float | None = None
    undrained_times: int = 0
    told_undrained: bool = False

    # The turn that it was asked or told to give up was a slice.
    sliced: bool = False
    # It computes all the time, as far as is known.
    busy: bool = False
    # It had work on the device between its last two reports; and its busy seconds in all so far.
    active: bool = False
    reported_busy: float = 0.0
    # Seconds that the device lately worked for it, seconds that it measured itself meanwhile, and
    # its busy seconds when these were compared. Then the part of its measured time that is its own
    # while others run beside it, and the part that is its own now (shares/attribution.py).
    given_seconds: float = 0.0
    measured_seconds: float = 0.0
    given_busy: float = 0.0
    own_beside: float = 1.0
    own: float = 1.0
    # Seconds for which it held turns before the present one. Then the counters when it was last
    # judged (clients/usage.py): of these seconds, and of busy and throttled ones if it has reported
    # any.
    held_before: float = 0.0
    judged_held: float = 0.0
    judged_busy: float | None = None
    judged_throttled: float = 0.0

    # It was refused memory, and has been allowed none since.
    refused: bool = False

    # The part of the device's capacity that it takes under the present regime.
    weight: int = 0
    # Its recent use (precedence/), and its place in the queue: the policy's rank when it began to
    # wait.
    use: Use = NO_USE
    rank: float = 0.0
    # It has rested, or is new, and may interrupt others once; it has computed in bursts since it
    # last rested; and it has interrupted others, which come back after it at its cost.
    visits: bool = False
    bursts: bool = False
    intrudes: bool = False
    # It has had no turn yet.
    is_new: bool = False
    # It runs although no daemon has let it: it has waited in vain for one, or began without. Where
    # it does not fit, it makes way for clients that have a turn.
    ungranted: bool = False
    # When it was last told to bring its memory in so that its work in flight ends (turns/drain.py).
    helped_at: float = -inf
    # How long its turn had lasted, if another client interrupted it.
    interrupted: float | None = None
    # When it last gave up a turn, or joined.
    served_at: float = 0.0
    granted_at: float = 0.0
    # When it last reported memory moved out, and in, or joined. A move reported later began later.
    moved_out_at: float = 0.0
    moved_in_at: float = 0.0
    # Seconds in all in which memory had moved on the device when the turn began.
    moved_before: float = 0.0
    # How long it was to rest before giving way, when it was asked last.
    idle_seconds: float = 0.0
    # Since when it has rested, if it gave its turn up for that; and the length of its last rest.
    rests_since: float | None = None
    last_rest: float = 0.0
    # Whether it is parked (turns/park.py), and since when; and when it may be told again to move
    # out memory that could not leave.
    park: Park | None = None
    parked_at: float = 0.0
    evict_again: float = 0.0
    # When it last reported work, or was granted a turn; since when it has been asked to give its
    # turn up after a long rest, if it has; and the length of that rest.
    worked_at: float = 0.0
    rest_asked_at: float | None = None
    rest_seconds: float = 0.0
    # Bytes it was told to move out, and has not reported yet.
    evicting: int = 0
    # Bytes that count as swapped, but have not left the device yet.
    outbound: int = 0
    # Bytes of the memory it may be bringing in that had no room yet; and what it was told of that.
    missing: int = 0
    told_missing: int = 0
    # The ticket of its request for a context that has no room yet; 0: none.
    awaits_room: int = 0
    # Bytes beyond its limit, which are to be on the host; and how many of them have left, or were
    # ordered out, in the turn that it holds. Memory that comes back in a turn is in use, and stays.
    over_limit: int = 0
    trimmed: int = 0
    # Bytes that it has in while it holds a turn, if there is no room for all of them.
    filled: int | None = None
    # Bytes that have pages on the host, which stay until the memory is freed: the most that was
    # ever there at once, or the client's own figure, which is exact for each block.
    most_out: int = 0
    # The part of that which has surely left. The rest is on its way, or was until its next grant.
    surely_out: int = 0
    # How much host memory was ordered for it (host/provide.py).
    provided: int = 0
    # The most that it may move out by itself in this turn after it was asked to give way. It does
    # not report when it has read that it need not any more.
    offered: int = 0
    # Bytes beyond its limit that are out, or were ordered out, in its turn.
    trims: int = 0
    # Bytes that it has gained in its turn, for which there may be no room.
    grown: int = 0
    # The part of them that it has not used, because it was told to give way for them.
    unused: int = 0
    # It may gain more memory; since when it has had its memory in a turn and gained none; and
    # whether it has had nothing to run for long, or may not run (host/safe_order.py).
    growing: bool = False
    calm_since: float = 0.0
    absent: bool = False
    # Seconds for which it had held turns when it last gained memory; and the most of them that ever
    # passed from one gain to the next.
    gained_at: float = 0.0
    pace: float = 0.0
    # The log has said that it waits for memory of others that cannot leave; and that its own memory
    # cannot leave while others wait for that.
    told_held_up: bool = False
    told_stuck: bool = False

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
        gang = -1 if self.gang is None else self.gang
        return not self.bursts, self.rank, gang, self.order

    @property
    def has_share(self) -> bool:
        """Whether its compute is capped."""
        percent = self.limits.compute_percent
        return percent is not None and percent < 100

    @property
    def holds(self) -> bool:
        """Whether it has a turn."""
        return self.state is State.RUNNING or self.state is State.YIELDING

    @property
    def is_away(self) -> bool:
        """Whether it is parked, and its gate closed: it competes for nothing."""
        return self.park is not None and not self.holds

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
        if not self.holds:
            return self.memory.resident
        size = self.memory.swappable
        return size if self.filled is None else min(size, self.filled)

    @property
    def leaving(self) -> int:
        """The bytes of ``present`` that were ordered out."""
        return min(self.evicting, self.present) if self.evicting else 0

    @property
    def staying(self) -> int:
        """The bytes of ``present`` that were not ordered out."""
        return self.present - self.leaving

    @property
    def inside(self) -> int:
        """``staying``, without newly gained memory that it gives way for and has not used."""
        if self.state is not State.YIELDING:
            return self.staying
        return max(0, self.staying - self.unused)

    @property
    def hosted(self) -> int:
        """The bytes that are on the host now.

        That is not all that is away: memory allocated behind a closed gate is nowhere yet. Memory
        that was moved out in a turn may or may not have come back.
        """
        size = self.memory.swappable
        away = size - self.present
        if not self.holds:
            return min(away - self.memory.untouched, self.most_out)
        return max(min(away, self.most_out), min(self.trims, size))

    @property
    def booked(self) -> int:
        """The bytes that the host keeps for it, or will once its orders are carried out."""
        going = max(self.leaving, self.offered)
        return min(self.memory.swappable, max(self.most_out, self.hosted + going))

    @property
    def charged(self) -> int:
        """The part of ``booked`` that was surely charged to a cgroup.

        A client holds the host memory that was made for it, in use or not.
        """
        paid = self.memory.kept if self.kind is Kind.EXPLICIT else self.surely_out
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
        return min(self.memory.swappable, max(self.most_out, self.hosted + self.leaving))


def in_order(clients: Iterable[Client]) -> list[Client]:
    """Return clients in the order in which they came to their states.

    A snapshot keeps this order only. So where several clients are given orders, they go by it:
    otherwise a journal that begins with a snapshot could not be replayed.
    """
    return sorted(clients, key=attrgetter("order"))
