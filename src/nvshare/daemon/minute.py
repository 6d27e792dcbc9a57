"""The last minute of a client: what its time went to, and what it launched and moved.

One look per second is kept. Nobody decides by it; people look at it.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from operator import sub
from typing import TYPE_CHECKING, NamedTuple

from nvshare.core.client_time import NAMES, Part
from nvshare.telemetry.snapshot import Recent, TimeParts

if TYPE_CHECKING:
    from nvshare.daemon.node import Member, Node
    from nvshare.daemon.session import Session

SECONDS = 60
# How many are looked at before somebody else gets a chance.
_AT_ONCE = 20
_PERIOD = 1.0
# What is shown of the past second by second.
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
        """All that its time went to."""
        return time_parts(self.spent)


class Minute:
    """One client's samples of the last minute."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=SECONDS + 1)
        # How much of the time between two samples it computed.
        self._computing: deque[int] = deque(maxlen=_SHOWN)

    def note(self, sample: Sample) -> None:
        """Keep a sample."""
        if self._samples:
            self._computing.append(_percent(self._samples[-1], sample))
        self._samples.append(sample)

    def recent(self, newest: Sample) -> Recent:
        """Return what has happened from the oldest sample of the last minute to this one."""
        oldest = next((s for s in self._samples if newest.now - s.now <= SECONDS), newest)
        spent = tuple(map(sub, newest.spent, oldest.spent))
        return Recent.of_known(
            {
                "seconds": sum(spent) / 1e9,
                "attribution": time_parts(spent),
                "launches": newest.launches - oldest.launches,
                "moved_in": newest.moved_in - oldest.moved_in,
                "moved_out": newest.moved_out - oldest.moved_out,
                "computing_percent": tuple(self._computing),
            }
        )


def _percent(before: Sample, after: Sample) -> int:
    computed = after.spent[_COMPUTING] - before.spent[_COMPUTING]
    passed = sum(after.spent) - sum(before.spent)
    return round(100 * computed / passed) if passed else 0


def time_parts(spent: Iterable[int]) -> TimeParts:
    """Return nanoseconds of all parts as a snapshot has them."""
    seconds = [value / 1e9 for value in spent]
    return TimeParts.of_known(dict(zip(PARTS, seconds, strict=True)))


def look(node: "Node", session: "Session", member: "Member", now: float) -> Sample:
    """Look at a client."""
    tally = session.tally
    return Sample(
        now=now,
        # In the order of PARTS, which is that in which they are counted.
        spent=tuple(node.executor.times.spent(member.id, now).values()),
        launches=tally.told.launches,
        moved_in=tally.moved_in,
        moved_out=tally.moved_out,
    )


async def follow_minutes(node: "Node") -> None:
    """Look at everybody once a second; a few at a time, since others wait for their turns."""
    while True:
        sessions = list(node.sessions.values())
        for first in range(0, len(sessions), _AT_ONCE):
            now = node.now()
            for session in sessions[first : first + _AT_ONCE]:
                # It may have left meanwhile.
                if session.member is not None and session.member.id in node.sessions:
                    session.minute.note(look(node, session, session.member, now))
            await asyncio.sleep(0)
        await asyncio.sleep(_PERIOD)
