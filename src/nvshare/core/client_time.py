"""What one client's time went to. Every moment belongs to one of six parts, and the parts add up.

A moment belongs to the first of these that is true of it:

    memory in    it has a turn, and its gate is closed until its memory is on the device
    memory out   it has no turn, and memory of it is leaving the device
    waiting      it has no turn, and there is work at its gate
    computing    it has work on the device
    held back    its work waits for time of its share
    idle         none of these

Memory that leaves while a client computes costs it nothing, and counts as computing. Memory that
leaves while it waits counts as memory out: that is what its turn has cost. Where several clients
run at the same time, each that has work on the device is computing.

The first three are known at the moment they begin. The others come from counters that the client
reports a few times a second. Whoever asks between two reports gets the same division as between the
last two; what that was wrong by is put right with the next report. No part ever becomes smaller.

Times are whole nanoseconds in here, so that sums are exact. This decides nothing, and is not about
how much of a device's time is whose: that is attribution.py.
"""

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nvshare.core.time_track import Track

# A client that computes reports four times a second (native/interposer/session/report.c). Who has
# not reported for this long has nothing to report; or, if there are many and each of them reports
# less often, for twice as long as between its last two reports. Two that are further apart than
# anybody is told to report (daemon/client_settings.py) have a rest between them.
QUIET_NS = 1_000_000_000
_SLOWEST_NS = 10_000_000_000


class Part(Enum):
    """What time can go to."""

    # There is one object of each, and they are looked up for every client every second: an Enum's
    # own hash is a function in Python.
    __hash__ = object.__hash__

    COMPUTING = "computing"
    WAITING = "waiting"
    HELD_BACK = "held_back"
    MEMORY_IN = "memory_in"
    MEMORY_OUT = "memory_out"
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


_KNOWN = {
    Doing.WAITS: Part.WAITING,
    Doing.FILLS: Part.MEMORY_IN,
    Doing.LEAVES: Part.MEMORY_OUT,
}


def nanoseconds(seconds: float) -> int:
    """Seconds as they are counted here."""
    return round(seconds * 1e9)


class _Counter:
    """A counter that a client reports, and what of it was put somewhere already."""

    def __init__(self) -> None:
        self._told = 0
        # What was reported and is not divided yet. Below 0: more was assumed than was reported.
        self._open = 0
        # What it grows by per nanosecond in which it can, by the last report.
        self._rate = 0.0

    def tell(self, value: int, most: int) -> None:
        """Take a report; it can have grown by so much since the last."""
        # It only grows, whatever a client says.
        new = max(0, value - self._told)
        self._told += new
        self._open += new
        self._rate = min(1.0, new / most) if most else 0.0

    def begin(self, value: int, known: int) -> None:
        """Take the first report of a client that has been known for so long."""
        if value > known:
            # It has worked for longer: with another daemon, or none.
            self._told = value

    def rest(self) -> None:
        """Nothing was reported for so long that it does not grow any more."""
        self._rate = 0.0

    def take_told(self, most: int) -> int:
        """Return what was reported, at most so much."""
        taken = min(most, max(0, self._open))
        # A report can be late; but what cannot have been is not carried on for ever.
        self._open = min(self._open - taken, QUIET_NS)
        return taken

    def take_likely(self, most: int) -> int:
        """Return what will have been reported of so much time, if it goes on as it did."""
        taken = int(most * self._rate)
        self._open -= taken
        return taken


class ClientTime:
    """The time of one client, from its arrival on."""

    def __init__(self, now_ns: int) -> None:
        self._doing = Doing.CLOSED
        self._came = self._seen = now_ns
        self._spent = dict.fromkeys(Part, 0)
        # What has passed with an open or a closed gate and is not divided yet; and what has passed
        # since the last report, divided or not.
        self._open = self._closed = 0
        self._open_window = self._closed_window = 0
        self._busy, self._held_back = _Counter(), _Counter()
        self._reported: int | None = None
        self._quiet = QUIET_NS
        # Who is told where on the clock all of it lies, if anybody wants to know.
        self._track: Track | None = None

    @property
    def doing(self) -> Doing:
        """What it is at."""
        return self._doing

    def follow(self, now_ns: int, track: "Track | None") -> None:
        """From now on, have somebody told where the parts lie; or nobody any more."""
        self.spent(now_ns)
        self._track = track

    def become(self, now_ns: int, doing: Doing) -> None:
        """From now on it is at something else, or goes on."""
        self._pass(now_ns)
        self._doing = doing

    def has_filled(self, now_ns: int, moved_ns: int) -> None:
        """Its memory has come in for so long without anybody knowing."""
        self._pass(now_ns)
        came = min(self._open, moved_ns)
        self._open -= came
        self._open_window -= came
        self._spent[Part.MEMORY_IN] += came
        if self._track is not None:
            self._track.filled(came)

    def report(self, now_ns: int, busy_ns: int, held_back_ns: int) -> None:
        """Take what the client has counted since its process began."""
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
        """Return what all of its time until now went to."""
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
