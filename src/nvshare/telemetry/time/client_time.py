"""How one client's time is divided. Every moment belongs to one of seven parts, which add up.

A moment belongs to the first part that is true of it:

    thrashing    it has a turn, and stands still: its memory is paged against that of others
    memory in    it has a turn, and its gate is closed until its memory is on the device
    memory out   it has no turn, and memory of it is leaving the device
    waiting      it has no turn, and there is work at its gate
    computing    it has work on the device
    held back    its work waits for time of its share
    idle         none of these

Memory that leaves while a client computes costs it nothing, and counts as computing. Memory that
leaves while it waits counts as memory out: that is what its turn has cost. Where several clients
run at the same time, each that has work on the device is computing.

The first four are known at the moment they begin; thrashing is found by the shell, some seconds
after it has begun (daemon/usage/thrashing.py). The others come from counters that the client
reports a few times a second. Between two reports, time is divided as it was between the last two;
the next report corrects the error. No part ever becomes smaller.

Times are whole nanoseconds here, so that sums are exact. This file decides nothing. How a device's
time is divided among clients is in attribution.py.
"""

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nvshare.telemetry.time.time_track import Track

# A client that computes reports four times a second (native/interposer/session/report.c). A client
# that has not reported for this long has nothing to report. Where many clients each report less
# often, that is twice the time between its last two reports. Two reports that are further apart
# than any client is told to report (daemon/clients/settings.py) have a rest between them.
QUIET_NS = 1_000_000_000
_SLOWEST_NS = 10_000_000_000


class Part(Enum):
    """A part of a client's time."""

    # Each member is looked up for every client every second, and an Enum's own hash is a slow
    # function in Python. Each is a single object, so the identity hash will do.
    __hash__ = object.__hash__

    COMPUTING = "computing"
    WAITING = "waiting"
    HELD_BACK = "held_back"
    MEMORY_IN = "memory_in"
    MEMORY_OUT = "memory_out"
    THRASHING = "thrashing"
    IDLE = "idle"


# An Enum's value is a function in Python, too.
NAMES = {part: part.value for part in Part}


class Doing(Enum):
    """What is known of a client at a moment."""

    OPEN = "open"
    """Its gate is open: it computes, is held back, or is idle."""
    CLOSED = "closed"
    """It has no turn and asks for none: it is held back, or idle."""
    WAITS = "waits"
    FILLS = "fills"
    LEAVES = "leaves"
    THRASHES = "thrashes"


_KNOWN = {
    Doing.WAITS: Part.WAITING,
    Doing.FILLS: Part.MEMORY_IN,
    Doing.LEAVES: Part.MEMORY_OUT,
    Doing.THRASHES: Part.THRASHING,
}


def nanoseconds(seconds: float) -> int:
    """Return seconds as whole nanoseconds."""
    return round(seconds * 1e9)


class _Counter:
    """A counter that a client reports, and how much of it was divided already."""

    def __init__(self) -> None:
        self._told = 0
        # Reported time that is not divided yet. Below 0: more was assumed than was reported.
        self._open = 0
        # Its growth per nanosecond in which it can grow, by the last report.
        self._rate = 0.0

    def tell(self, value: int, most: int) -> None:
        """Take a report. The counter can have grown by at most ``most`` since the last one."""
        # A counter never falls, whatever a client reports.
        new = max(0, value - self._told)
        self._told += new
        self._open += new
        self._rate = min(1.0, new / most) if most else 0.0

    def begin(self, value: int, known: int) -> None:
        """Take the first report of a client that has been known for ``known`` nanoseconds."""
        if value > known:
            # It worked before it was known: with an earlier daemon, or without one.
            self._told = value

    def rest(self) -> None:
        """Note that the counter does not grow any more: there was no report for long."""
        self._rate = 0.0

    def take_told(self, most: int) -> int:
        """Return the reported time that is not divided yet, at most ``most``."""
        taken = min(most, max(0, self._open))
        # A report can be late, but impossible time is not carried on endlessly.
        self._open = min(self._open - taken, QUIET_NS)
        return taken

    def take_likely(self, most: int) -> int:
        """Return the time that the next report will likely have of ``most`` nanoseconds."""
        taken = int(most * self._rate)
        self._open -= taken
        return taken


class ClientTime:
    """The time of one client, from its arrival on."""

    def __init__(self, now_ns: int) -> None:
        self._doing = Doing.CLOSED
        self._came = self._seen = now_ns
        self._spent = dict.fromkeys(Part, 0)
        # Time with an open or a closed gate that is not divided yet; and all such time since the
        # last report, divided or not.
        self._open = self._closed = 0
        self._open_window = self._closed_window = 0
        self._busy, self._held_back = _Counter(), _Counter()
        self._reported: int | None = None
        self._quiet = QUIET_NS
        # Is told where on the clock the parts lie, if a recorder wants to know.
        self._track: Track | None = None

    @property
    def doing(self) -> Doing:
        """What the client is doing."""
        return self._doing

    def follow(self, now_ns: int, track: "Track | None") -> None:
        """Tell a track where the parts lie from now on. None: tell none."""
        self.spent(now_ns)
        self._track = track

    def become(self, now_ns: int, doing: Doing) -> None:
        """Note what the client does from now on."""
        self._pass(now_ns)
        self._doing = doing

    def has_filled(self, now_ns: int, moved_ns: int) -> None:
        """Note that the last ``moved_ns`` of open time were spent on memory coming in."""
        self._pass(now_ns)
        came = min(self._open, moved_ns)
        self._open -= came
        self._open_window -= came
        self._spent[Part.MEMORY_IN] += came
        if self._track is not None:
            self._track.filled(came)

    def report(self, now_ns: int, busy_ns: int, held_back_ns: int) -> None:
        """Take the client's counters, which began with its process."""
        self._pass(now_ns)
        if self._reported is None:
            self._busy.begin(busy_ns, now_ns - self._came)
            self._held_back.begin(held_back_ns, now_ns - self._came)
        else:
            pause = now_ns - self._reported
            self._quiet = max(QUIET_NS, 2 * pause) if pause <= _SLOWEST_NS else QUIET_NS
        self._reported = now_ns
        self._busy.tell(busy_ns, self._open_window)
        self._held_back.tell(held_back_ns, self._open_window + self._closed_window)
        self._open_window = self._closed_window = 0
        computing = self._busy.take_told(self._open)
        self._divide(computing, self._held_back.take_told(self._open - computing + self._closed))

    def spent(self, now_ns: int) -> Mapping[Part, int]:
        """Return all of its time until now, by part."""
        self._pass(now_ns)
        if self._reported is None or now_ns - self._reported > self._quiet:
            self._busy.rest()
            self._held_back.rest()
        computing = self._busy.take_likely(self._open)
        rest = self._open - computing + self._closed
        self._divide(computing, self._held_back.take_likely(rest))
        return dict(self._spent)

    def _pass(self, now_ns: int) -> None:
        passed, self._seen = max(0, now_ns - self._seen), max(now_ns, self._seen)
        part = _KNOWN.get(self._doing)
        if self._track is not None and passed:
            self._tell_track(self._track, part, self._seen - passed)
        if part is not None:
            self._spent[part] += passed
        elif self._doing is Doing.OPEN:
            self._open += passed
            self._open_window += passed
        else:
            self._closed += passed
            self._closed_window += passed

    def _tell_track(self, track: "Track", part: Part | None, begin: int) -> None:
        if part is not None:
            track.passed(part, begin, self._seen)
        else:
            track.undecided(begin, self._seen, is_open=self._doing is Doing.OPEN)

    def _divide(self, computing: int, held_back: int) -> None:
        self._spent[Part.COMPUTING] += computing
        self._spent[Part.HELD_BACK] += held_back
        self._spent[Part.IDLE] += self._open + self._closed - computing - held_back
        self._open = self._closed = 0
        if self._track is not None:
            self._track.divided(computing, held_back)
