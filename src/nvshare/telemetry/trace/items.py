"""The items of a trace, and each of them as a line of JSON.

Times are nanoseconds on the clock of the recorder. Items are not ordered by time.
"""

import json
from dataclasses import astuple, dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Began:
    """The beginning of a recording; nothing earlier is in it. ``unix`` is the time of day."""

    at: int
    unix: float
    by: str


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU, and how much of its memory programs may use."""

    uuid: str
    index: int
    name: str
    usable: int


@dataclass(frozen=True, slots=True)
class Program:
    """One process on one GPU."""

    id: int
    device: str
    name: str
    pid: int = 0
    user: str = ""
    pod: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """A program has spent time on something: a part of client_time.py, or "starting"."""

    program: int
    state: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A program had a turn, or this piece of one."""

    program: int
    number: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Move:
    """Memory of a program went in, out, or both."""

    program: int
    bytes_in: int
    bytes_out: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Level:
    """From now on, how much memory is on a GPU, and how much of its programs' memory is away."""

    device: str
    at: int
    on_gpu: int
    away: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The end: everything until now was sent, except items that were not read in time."""

    at: int
    dropped: int = 0


Item: TypeAlias = Began | Gpu | Program | Spent | Turn | Move | Level | Ended
_KINDS: dict[str, type[Item]] = {
    kind.__name__.lower(): kind for kind in (Began, Gpu, Program, Spent, Turn, Move, Level, Ended)
}


def write_item(item: Item) -> str:
    """Return an item as a line."""
    return json.dumps([type(item).__name__.lower(), *astuple(item)], separators=(",", ":")) + "\n"


def read_item(line: str | bytes) -> Item | None:
    """Return the item of a line; None: a newer daemon sent an item that is not known here."""
    name, *values = json.loads(line)
    kind = _KINDS.get(name)
    return None if kind is None else kind(*values)
