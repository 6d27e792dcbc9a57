"""Whether programs page against each other: a judgement of what was seen of one GPU for a while.

Programs thrash if they run at the same time, their memory is more than the GPU has, and they stand
still: the GPU is busy, but not with their work. The driver brings in pages of one by taking pages
of the other.

No program reports how much work has ended. But it never has more than a little in flight
(native/interposer/gate/inflight.c), so the calls that give the GPU work are as many as those that
have ended. A program that has work and makes almost no such calls stands still.

Everything here can be observed on a real GPU. thrash_watch.py looks; this file only judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# For how long all of it has to be true. Programs overlap for a moment at an ordinary change of
# turn, and are slow for a moment when their memory comes in.
THRASHING_SECONDS = 5.0
# In percent, as NVML gives it. A GPU that pages shows 100.
_LEAST_UTILISATION = 50.0
# The part of the time for which a program has to report that it has work.
_LEAST_BUSY = 0.5
# A program stands still if it makes less than this part of its usual calls, or less than so many
# per second. Programs that share a GPU slow each other down as well, but not ten times.
_PART_OF_USUAL = 0.1
_FEWEST_CALLS = 0.2
# Where what is usual was never seen. Assumed: PyTorch makes a hundred calls per second or more.
_ASSUMED_USUAL = 100.0
# What thrashes has to become this many times as fast to thrash no more, or the state would flicker.
_FASTER = 2.0


@dataclass(frozen=True, slots=True)
class Program:
    """One program on the GPU at one moment."""

    id: int
    # It has a turn, whether it was told to give it up or not.
    holds: bool
    # It was told to give way and has not: some work of it has not ended.
    is_told: bool
    # The driver may push its memory out: it is managed memory, at least some of it.
    is_paged: bool
    # Bytes on the GPU, as nvshare knows; and those of them that no driver pushes out.
    memory: int
    fixed: int
    # Counters.
    calls: int
    busy_seconds: float
    # The calls per second of work that it made before it came to this. None: it made none.
    usual: float | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """The GPU at one moment."""

    now: float
    # Bytes that programs may fill.
    usable: int
    programs: tuple[Program, ...]
    # In percent. None: the GPU does not tell.
    utilisation: float | None = None
    # Processes without nvshare use the GPU as well.
    has_outsiders: bool = False

    @property
    def is_crowded(self) -> bool:
        """Whether programs that have turns have more memory than there is room for."""
        return _exceeds(self, [one for one in self.programs if one.holds and one.is_paged])


@dataclass(frozen=True, slots=True)
class Thrashing:
    """The programs that page against each other, or one against itself."""

    since: float
    programs: tuple[int, ...]
    # Bytes that they have together, and that the GPU has room for.
    memory: int
    room: int


def judge(
    looks: Sequence[Look], before: Thrashing | None = None, clock: float = 1.0
) -> Thrashing | None:
    """Say which programs thrash, by successive looks. ``before``: what was said of the last ones.

    ``clock`` is how many seconds of the GPU pass in one of ours, where it is emulated.
    """
    if not looks or looks[-1].now - looks[0].now < THRASHING_SECONDS:
        return None
    utilisation = _mean([one.utilisation for one in looks])
    if utilisation is not None and utilisation < _LEAST_UTILISATION:
        return None
    last = looks[-1]
    ease = _FASTER if before is not None else 1.0
    still = [one for one in last.programs if _stands_still(one.id, looks, ease, clock)]
    stuck = [one for one in still if _has_work(one.id, looks)]
    if utilisation is not None and _explains(still, last):
        stuck = still
    if not _exceeds(last, stuck):
        return None
    return Thrashing(
        since=looks[0].now if before is None else before.since,
        programs=tuple(one.id for one in stuck),
        memory=sum(one.memory for one in stuck),
        room=_room_for(last, stuck),
    )


def _stands_still(program: int, looks: Sequence[Look], ease: float, clock: float) -> bool:
    """Whether a program has had a turn all the time, and made almost no calls."""
    seen = _seen(program, looks)
    if len(seen) < len(looks) or not all(one.holds and one.is_paged for one in seen):
        return False
    usual = _ASSUMED_USUAL * clock if seen[0].usual is None else seen[0].usual
    most = ease * max(_FEWEST_CALLS * clock, _PART_OF_USUAL * usual)
    return seen[-1].calls - seen[0].calls < most * (looks[-1].now - looks[0].now)


def _has_work(program: int, looks: Sequence[Look]) -> bool:
    """Whether a program has surely had work all the time."""
    seen = _seen(program, looks)
    busy = seen[-1].busy_seconds - seen[0].busy_seconds
    is_busy = busy >= _LEAST_BUSY * (looks[-1].now - looks[0].now)
    return is_busy or all(one.is_told for one in seen)


def _explains(still: Sequence[Program], look: Look) -> bool:
    """Whether nobody else can be what the GPU is busy with.

    A program whose threads wait in calls of the driver for room in its queues reports no work. It
    looks as if it had none, and so does one that really has none. But if nobody makes calls, and
    the GPU is busy, it is busy with work that was given to it before.
    """
    here = {one.id for one in still}
    return not look.has_outsiders and all(one.id in here for one in look.programs if one.holds)


def _seen(program: int, looks: Sequence[Look]) -> list[Program]:
    return [one for look in looks for one in look.programs if one.id == program]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _exceeds(look: Look, programs: Sequence[Program]) -> bool:
    return sum(one.memory for one in programs) > _room_for(look, programs)


def _room_for(look: Look, programs: Sequence[Program]) -> int:
    """Return what the GPU has for these: the memory of others that cannot be pushed out stays."""
    here = {one.id for one in programs}
    return max(0, look.usable - sum(one.fixed for one in look.programs if one.id not in here))
