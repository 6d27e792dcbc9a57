"""The last minute of a client: what its time went to, and what it launched and moved.

sample_clients.py takes the samples. For display only; no decision uses it.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import sub
from typing import NamedTuple

from nvshare.telemetry.snapshot import Recent, TimeParts
from nvshare.telemetry.time.client_time import NAMES, Part

SECONDS = 60
# The time between two samples of a client that is active.
PERIOD = 1.0
# How many past seconds are shown one by one.
_SHOWN = 30
# The parts of time, in the order of a sample.
PARTS = tuple(NAMES.values())
_COMPUTING = PARTS.index(NAMES[Part.COMPUTING])


class Sample(NamedTuple):
    """A client's counters at one moment, in nanoseconds and bytes."""

    now: float
    spent: tuple[int, ...]
    launches: int
    moved_in: int
    moved_out: int

    @property
    def attribution(self) -> TimeParts:
        """The parts of its time."""
        return time_parts(self.spent)


class LastMinute:
    """One client's samples of the last minute."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=SECONDS + 1)
        # How much it computed in each second.
        self._computing: deque[int] = deque(maxlen=_SHOWN)

    def note(self, sample: Sample) -> None:
        """Keep a sample."""
        if self._samples:
            self._computing.extend(_percents(self._samples[-1], sample))
        self._samples.append(sample)

    def recent(self, newest: Sample) -> Recent:
        """Return the differences from the oldest sample of the last minute to this one."""
        oldest = self._at(newest.now - SECONDS, newest)
        spent = tuple(map(sub, newest.spent, oldest.spent))
        return Recent.of_known(
            {
                "seconds": sum(spent) / 1e9,
                "attribution": time_parts(spent),
                "launches": newest.launches - oldest.launches,
                "moved_in": newest.moved_in - oldest.moved_in,
                "moved_out": newest.moved_out - oldest.moved_out,
                "computing_percent": self._computing_until(newest),
            }
        )

    def _at(self, moment: float, newest: Sample) -> Sample:
        """Return the first sample since a moment; or one interpolated for it."""
        before = None
        for after in chain(self._samples, (newest,)):
            if after.now >= moment:
                break
            before = after
        if before is None or after.now - moment <= PERIOD:
            return after
        return _between(before, after, moment)

    def _computing_until(self, newest: Sample) -> tuple[int, ...]:
        """How much of each second it computed, with those that have passed without a look."""
        if not self._samples or newest.now - self._samples[-1].now < 2 * PERIOD:
            return tuple(self._computing)
        return (*self._computing, *_percents(self._samples[-1], newest))[-_SHOWN:]


def _between(before: Sample, after: Sample, moment: float) -> Sample:
    """Interpolate a sample between two others."""
    part = (moment - before.now) / (after.now - before.now)

    def at(first: int, last: int) -> int:
        return first + round((last - first) * part)

    return Sample(
        now=moment,
        spent=tuple(map(at, before.spent, after.spent)),
        launches=at(before.launches, after.launches),
        moved_in=at(before.moved_in, after.moved_in),
        moved_out=at(before.moved_out, after.moved_out),
    )


def _percents(before: Sample, after: Sample) -> Sequence[int]:
    """How much the client computed in each second between two samples."""
    seconds = min(_SHOWN, max(1, round(after.now - before.now)))
    return [_percent(before, after)] * seconds


def _percent(before: Sample, after: Sample) -> int:
    computed = after.spent[_COMPUTING] - before.spent[_COMPUTING]
    passed = sum(after.spent) - sum(before.spent)
    return round(100 * computed / passed) if passed else 0


def time_parts(spent: Iterable[int]) -> TimeParts:
    """Return nanoseconds of all parts as a snapshot has them."""
    computing, waiting, held_back, memory_in, memory_out, thrashing, idle = spent
    return TimeParts.of_known(
        {
            "computing": computing / 1e9,
            "waiting": waiting / 1e9,
            "held_back": held_back / 1e9,
            "memory_in": memory_in / 1e9,
            "memory_out": memory_out / 1e9,
            "thrashing": thrashing / 1e9,
            "idle": idle / 1e9,
        }
    )
