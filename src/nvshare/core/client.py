"""What the core knows about one client. A record; roster.py changes it, nobody else counts."""

from dataclasses import dataclass
from enum import Enum

from nvshare.core.effects import NO_SHARE, Share
from nvshare.core.lease import State
from nvshare.core.memory import NO_MEMORY, Kind, Memory
from nvshare.core.settings import NO_LIMITS, Limits, Priority

_STANDINGS = {Priority.HIGH: 0, Priority.NORMAL: 1, Priority.LOW: 2}
BEST_STANDING = 0


def standing_of(priority: Priority) -> int:
    """Return the place in the queue that a priority gives; the lower, the sooner."""
    return _STANDINGS[priority]


class Park(Enum):
    """Why all of a client's memory is to be on the host, whether anybody needs its place or not."""

    BY_HAND = "by hand"
    """A person wants it so: it has no turn until a person says otherwise."""

    IDLE = "idle"
    """It has had nothing to do for long. It comes back as soon as it has."""


class Hold(Enum):
    """How far a client of a gang is that was told to hold (gangs/giving.py)."""

    TOLD = "told"
    """Its gate is closed, and it has work in flight, as far as is known."""

    HELD = "held"
    """Nothing is in flight."""

    STEPS = "steps"
    """The same, until it was told to let one call pass."""


@dataclass(slots=True, eq=False)
class Client:
    """One process on one device."""

    id: int
    kind: Kind = Kind.MANAGED
    memory: Memory = NO_MEMORY
    limits: Limits = NO_LIMITS
    # With whom it has them together, if anybody; and what its share came to when it was last told.
    group: str = ""
    share: Share = NO_SHARE

    # Who pays for the time that it holds the device, if the shell knows.
    owner: str = ""

    # It understands Hold. The number of the gang that it is in (gangs/), if any; and that another
    # one of it comes first on this device, and counts for both where heads are counted.
    can_hold: bool = False
    gang: int | None = None
    rides: bool = False
    # A person was told that its group cannot be a gang.
    told_apart: bool = False
    # It has given its turn up, being idle, and its gang has not: its place is kept.
    rests: bool = False
    # Its gang waits, and another one of it could not run now, whoever gave way.
    stalled: bool = False
    # It was told to hold: how far it is, since when; that a thread waits at its gate; and after
    # which time it is told to step. And when others were told to make room for that, if they were.
    hold: Hold | None = None
    hold_since: float = 0.0
    hold_waits: bool = False
    step_patience: float = 0.0
    room_asked_at: float | None = None

    state: State = State.GONE
    # When it came to this state, and a number that orders everybody by when that was.
    since: float = 0.0
    order: int = 0

    # The turn it holds, or held last; and one that it may be handed before we hear of it.
    turn: int = 0
    next_turn: int | None = None
    # It was asked to give way when idle.
    soft_revoked: bool = False
    # It said, while holding a turn, that there is work at its closed gate.
    wants: bool = False
    # It was told to give way, did not, and others go on without it.
    overdue: bool = False

    # What it has in flight cannot drain (undrained.py): it is told nothing until `retry_at`, if
    # that is set. When it was first told to give way, since it last could; how often it could not;
    # and that a person was told.
    undrained: bool = False
    retry_at: float = 0.0
    undrained_since: float | None = None
    undrained_times: int = 0
    told_undrained: bool = False

    # The turn it was asked or told to give up was one of those that are not for memory.
    sliced: bool = False
    # It computes all the time, as far as is known.
    busy: bool = False
    # It had work on the device between its last two reports; and for how long, in all, by the last.
    active: bool = False
    reported_busy: float = 0.0
    # What the device has done for it lately, what it has measured itself meanwhile, and what it had
    # reported when these were compared. So much of what it measures is its own beside others; and
    # so much is now.
    given_seconds: float = 0.0
    measured_seconds: float = 0.0
    given_busy: float = 0.0
    own_beside: float = 1.0
    own: float = 1.0
    # Seconds for which it held turns before the present one; and all counters when it was last
    # judged: of these seconds, and of its busy and throttled ones, if it has reported any.
    held_before: float = 0.0
    judged_held: float = 0.0
    judged_busy: float | None = None
    judged_throttled: float = 0.0

    # It was refused memory, and not allowed any since.
    refused: bool = False

    # What it takes of the device's capacity under the present rule.
    weight: int = 0
    # Its place in the queue: by its priority, unless it has waited for too long; and then as the
    # policy saw it when it began to wait. It keeps its standing through the turn that it waits for.
    standing: int = _STANDINGS[Priority.NORMAL]
    rank: float = 0.0
    # Seconds of the device that it has left to others (credit.py); for how long turns had been
    # waited for when its own began; and that it waits, and may have the device at once.
    credit: float = 0.0
    contested_before: float = 0.0
    claims: bool = False
    # It has interrupted others by its priority alone, and its turn is charged to the budget.
    owes: bool = False
    # It has had no turn yet; and it has its first.
    is_new: bool = False
    is_first_turn: bool = False
    # For how long its turn had lasted, if somebody with a claim has interrupted it. It goes on with
    # the rest of its turn.
    interrupted: float | None = None
    # When it last gave up a turn, or joined.
    served_at: float = 0.0
    granted_at: float = 0.0
    # When it last told of memory that it has moved out, and in, or joined: no move that it tells of
    # later began before.
    moved_out_at: float = 0.0
    moved_in_at: float = 0.0
    # Seconds in which memory had moved on the device, in all, when the turn began.
    moved_before: float = 0.0
    # How long it was to rest before giving way, when it was asked last.
    idle_seconds: float = 0.0
    # Since when it has rested, if it gave its turn up for that; how long it rested last; and how
    # long the time before (rhythm.py).
    rests_since: float | None = None
    last_rest: float = 0.0
    rest_before: float = 0.0
    # Whether it is parked (parking.py), and since when; and when it may be told again to move out
    # what it could not.
    park: Park | None = None
    parked_at: float = 0.0
    evict_again: float = 0.0
    # When it last told of its work, or was granted a turn; and since when it has been asked to give
    # its turn up after a long rest, if it has, and after which.
    worked_at: float = 0.0
    rest_asked_at: float | None = None
    rest_seconds: float = 0.0
    # Bytes it was told to move out, and has not reported yet.
    evicting: int = 0
    # Bytes that count as swapped, but have not left the device yet.
    outbound: int = 0
    # Bytes that it was told to bring in ahead of its turn (ahead.py), and has not told of yet; and
    # that it was told to stop.
    ahead: int = 0
    ahead_stops: bool = False
    # The room into which it could bring nothing when it was last told to.
    ahead_in_vain: int = 0
    # It may be bringing memory in, of which so much had no room yet; and what it was told of that.
    missing: int = 0
    told_missing: int = 0
    # The ticket of its ask for a context that there is no room for yet; 0: none.
    awaits_room: int = 0
    # Bytes that are to be on the host, being beyond its limit; and how many of them have left in
    # the turn that it holds, or were told to. What comes back in a turn is in use, and stays.
    over_limit: int = 0
    trimmed: int = 0
    # What it has in while it holds a turn, if that is not all: there is not more room.
    filled: int | None = None
    # What has pages on the host, which are kept for as long as the memory is: the most that was
    # ever there at one time, or what the client says, which knows it block by block.
    most_out: int = 0
    # What of that has surely left: the rest is on its way, or was until it was granted a turn.
    surely_out: int = 0
    # How much host memory was ordered for it (providing.py).
    provided: int = 0
    # The most that it may move out by itself in this turn, having been asked to give way. Nobody
    # hears when it has read that it need not any more.
    offered: int = 0
    # What is out in its turn, or was told to leave, being beyond its limit.
    trims: int = 0
    # What it has gained in its turn, for which there may be no room.
    grown: int = 0
    # What of that it has not used, having been told to give way for it.
    unused: int = 0
    # It may gain more memory; since when it has had its memory in a turn, and gained none; and that
    # it has had nothing to run for long, or may not run (hope.py).
    growing: bool = False
    calm_since: float = 0.0
    absent: bool = False
    # A person was told that it waits for memory of others that cannot leave; and that its own
    # cannot, while others wait for that.
    told_held_up: bool = False
    told_stuck: bool = False

    @property
    def usual_standing(self) -> int:
        """What its priority gives it."""
        return standing_of(self.limits.priority)

    @property
    def place(self) -> tuple[int, int, float, int, int]:
        """Its place in the queue: the lowest is served first.

        Who may have the device at once goes before those whom that has interrupted, and they before
        those who wait for a whole turn. Those of one gang differ in the last part only, so that any
        two gangs are in the same order on all devices.
        """
        urgency = 0 if self.claims else 1 if self.interrupted is not None else 2
        gang = -1 if self.gang is None else self.gang
        return self.standing, urgency, self.rank, gang, self.order

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
        """Swappable bytes on the device, or on their way there ahead of a turn.

        Who holds a turn is taken to have everything in that there is room for: what it touches
        comes in by itself, and nobody reports that.
        """
        if not self.holds:
            return self.memory.resident + self.ahead
        size = self.memory.swappable
        return size if self.filled is None else min(size, self.filled)

    @property
    def leaving(self) -> int:
        """What of that was ordered out."""
        return min(self.evicting, self.present) if self.evicting else 0

    @property
    def staying(self) -> int:
        """What of that nobody has ordered out."""
        return self.present - self.leaving

    @property
    def inside(self) -> int:
        """What of that is there. What it has gained and is giving way for, it has not used yet."""
        if self.state is not State.YIELDING:
            return self.staying
        return max(0, self.staying - self.unused)

    @property
    def hosted(self) -> int:
        """What is on the host now.

        Not all that is away: what was allocated behind a closed gate is nowhere yet. What was moved
        out in a turn may have come back, or not.
        """
        size = self.memory.swappable
        away = size - self.present
        if not self.holds:
            return min(away - self.memory.untouched, self.most_out)
        return max(min(away, self.most_out), min(self.trims, size))

    @property
    def booked(self) -> int:
        """What the host keeps for it, or will when it has done what it was told to."""
        going = max(self.leaving, self.offered)
        return min(self.memory.swappable, max(self.most_out, self.hosted + going))

    @property
    def charged(self) -> int:
        """What of that somebody has surely been charged for.

        Host memory that was made for it is held by it, in use or not.
        """
        paid = self.memory.kept if self.kind is Kind.EXPLICIT else self.surely_out
        return min(paid, self.memory.swappable)

    @property
    def spare(self) -> int:
        """What of that is for memory that is on the device: it can leave at no cost."""
        return self._backed - self.hosted - self.leaving

    @property
    def reserved(self) -> int:
        """What of that is for what it may move out by itself, and then not by another order."""
        return self.booked - self._backed

    @property
    def _backed(self) -> int:
        return min(self.memory.swappable, max(self.most_out, self.hosted + self.leaving))
