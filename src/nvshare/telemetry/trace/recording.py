"""A complete interval of a node: made of items, ordered by time, and cut at its ends."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

from nvshare.telemetry.time.client_time import Part
from nvshare.telemetry.trace.items import (
    Began,
    Ended,
    Gpu,
    Item,
    Level,
    Move,
    Program,
    Spent,
    Turn,
)

STARTING = "starting"
STATES = (*(part.value for part in Part), STARTING)

Interval = TypeVar("Interval", Spent, Turn, Move)


@dataclass(slots=True)
class Life:
    """One program in a recording."""

    program: Program
    spent: list[Spent] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)

    def seconds(self, state: str) -> float:
        """The seconds that it spent in a state."""
        return sum(one.end - one.begin for one in self.spent if one.state == state) / 1e9

    @property
    def bounds(self) -> tuple[int, int]:
        """The first and the last time that are known of it."""
        return self.spent[0].begin, max(one.end for one in self.spent)


@dataclass(slots=True)
class Recording:
    """A whole recording. Times are nanoseconds, from ``begin`` to ``end``."""

    title: str = ""
    begin: int = 0
    end: int = 0
    unix: float = 0.0
    dropped: int = 0
    gpus: list[Gpu] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    levels: dict[str, list[Level]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Its length in seconds."""
        return (self.end - self.begin) / 1e9

    def on(self, gpu: Gpu) -> list[Life]:
        """Return the programs of a GPU."""
        return [life for life in self.lives if life.program.device == gpu.uuid]


def gather(items: Iterable[Item], title: str = "") -> Recording:
    """Make a recording. One that was cut off ends with the last known item."""
    made = Recording(title=title)
    programs: dict[int, Program] = {}
    lives: dict[int, Life] = {}
    latest = 0
    for item in items:
        match item:
            case Began():
                made.begin, made.unix = item.at, item.unix
            case Gpu():
                made.gpus.append(item)
            case Program():
                programs[item.id] = item
            case Level():
                made.levels.setdefault(item.device, []).append(item)
                latest = max(latest, item.at)
            case Ended():
                made.end, made.dropped = item.at, item.dropped
            case Spent() | Turn() | Move():
                life = lives.setdefault(item.program, Life(Program(item.program, "", "")))
                _sort_in(life, item)
                latest = max(latest, item.end)
    made.end = made.end or max(latest, made.begin)
    made.gpus.sort(key=lambda gpu: gpu.index)
    for number, program in programs.items():
        life = _tidied(program, lives.get(number, Life(program)), made.begin, made.end)
        if life.spent:
            made.lives.append(life)
    return made


def _sort_in(life: Life, item: Spent | Turn | Move) -> None:
    match item:
        case Spent():
            life.spent.append(item)
        case Turn():
            life.turns.append(item)
        case Move():
            life.moves.append(item)


def _tidied(program: Program, life: Life, begin: int, end: int) -> Life:
    turns = _joined(_clipped(life.turns, begin, end), "number")
    spent = _joined(_clipped(life.spent, begin, end), "state")
    edges = sorted({edge for turn in turns for edge in (turn.begin, turn.end)})
    moves = _one_by_one(_clipped(life.moves, begin, end))
    return Life(program, [piece for one in spent for piece in _split(one, edges)], turns, moves)


def _split(spent: Spent, edges: list[int]) -> Iterator[Spent]:
    """Cut at the edges of turns, so that each piece is inside a turn or outside."""
    first, last = bisect_right(edges, spent.begin), bisect_left(edges, spent.end)
    for begin, end in pairwise((spent.begin, *edges[first:last], spent.end)):
        yield replace(spent, begin=begin, end=end)


def _clipped(items: list[Interval], begin: int, end: int) -> list[Interval]:
    inside = (replace(i, begin=max(i.begin, begin), end=min(i.end, end)) for i in items)
    return sorted((i for i in inside if i.begin < i.end), key=lambda i: i.begin)


def _joined(items: list[Interval], by: str) -> list[Interval]:
    """Join intervals that came in pieces."""
    joined: list[Interval] = []
    for item in items:
        last = joined[-1] if joined else None
        if last is not None and last.end == item.begin and getattr(last, by) == getattr(item, by):
            joined[-1] = replace(last, end=item.end)
        else:
            joined.append(item)
    return joined


def _one_by_one(moves: list[Move]) -> list[Move]:
    """Remove overlaps: a program's moves are sequential, but their measured times may overlap."""
    free = 0
    apart: list[Move] = []
    for move in sorted(moves, key=lambda one: one.end):
        if move.end > free:
            apart.append(replace(move, begin=max(move.begin, free)))
            free = move.end
    return apart
