"""Whether programs page against each other: a judgement of what was seen of one GPU for a while.

Programs thrash if they run at the same time, their memory is more than the GPU has, and they stand
still: the GPU is busy, but not with their work. The driver brings in pages of one by taking pages
of the other.

No program reports how much work has ended. But it never has more than a little in flight
(native/interposer/gate/inflight.c), so the calls that give the GPU work are as many as those that
have ended. A program that has work and makes almost no such calls stands still.

Everything here can be observed on a real GPU. watch_thrashing.py looks; this file only judges.
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
# And it is judged by so many times as long.
_LASTING = 4


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
    utilisation = _mean([one.utilisation for one in looks])
    if not looks or (utilisation is not None and utilisation < _LEAST_UTILISATION):
        return None
    ease = _FASTER if before is not None else 1.0
    last = looks[-1]
    spells = [_spell_of(one.id, looks) for one in last.programs]
    still = [spell for spell in spells if spell is not None and spell.stands_still(ease, clock)]
    stuck = [spell for spell in still if spell.has_work]
    if utilisation is not None and _explains(still, last):
        stuck = still
    programs = [spell.last for spell in stuck]
    if not _exceeds(last, programs):
        return None
    return Thrashing(
        since=max(spell.since for spell in stuck) if before is None else before.since,
        programs=tuple(one.id for one in programs),
        memory=sum(one.memory for one in programs),
        room=_room_for(last, programs),
    )


def seconds_to_judge(before: Thrashing | None) -> float:
    """Return how far looks go back.

    Whose pages have just come in runs for a moment, until they are taken again. So it takes longer
    to see that thrashing is over than to see that it has begun.
    """
    return THRASHING_SECONDS if before is None else _LASTING * THRASHING_SECONDS


@dataclass(frozen=True, slots=True)
class _Spell:
    """The time for which a program has had a turn and pageable memory."""

    since: float
    seconds: float
    first: Program
    last: Program
    is_told: bool

    def stands_still(self, ease: float, clock: float) -> bool:
        """Whether it has made almost no calls."""
        usual = _ASSUMED_USUAL * clock if self.first.usual is None else self.first.usual
        most = ease * max(_FEWEST_CALLS * clock, _PART_OF_USUAL * usual)
        return self.last.calls - self.first.calls < most * self.seconds

    @property
    def has_work(self) -> bool:
        """Whether it has surely had work all the time."""
        busy = self.last.busy_seconds - self.first.busy_seconds
        return self.is_told or busy >= _LEAST_BUSY * self.seconds


def _spell_of(program: int, looks: Sequence[Look]) -> _Spell | None:
    """Return a program's spell up to the last look; None: it is too short to judge."""
    seen: list[tuple[float, Program]] = []
    for look in reversed(looks):
        one = next((one for one in look.programs if one.id == program), None)
        if one is None or not (one.holds and one.is_paged):
            break
        seen.append((look.now, one))
    if not seen or seen[0][0] - seen[-1][0] < THRASHING_SECONDS:
        return None
    (end, last), (since, first) = seen[0], seen[-1]
    return _Spell(since, end - since, first, last, all(one.is_told for _, one in seen))


def _explains(still: Sequence[_Spell], look: Look) -> bool:
    """Whether nobody else can be what the GPU is busy with.

    A program whose threads wait in calls of the driver for room in its queues reports no work. It
    looks as if it had none, and so does one that really has none. But if nobody makes calls, and
    the GPU is busy, it is busy with work that was given to it before.
    """
    here = {spell.last.id for spell in still}
    return not look.has_outsiders and all(one.id in here for one in look.programs if one.holds)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _exceeds(look: Look, programs: Sequence[Program]) -> bool:
    return sum(one.memory for one in programs) > _room_for(look, programs)


def _room_for(look: Look, programs: Sequence[Program]) -> int:
    """Return what the GPU has for these: the memory of others that cannot be pushed out stays."""
    here = {one.id for one in programs}
    return max(0, look.usable - sum(one.fixed for one in look.programs if one.id not in here))
