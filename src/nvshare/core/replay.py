"""Replays a saved journal to a new core, and reports where the core decides differently now."""

from collections.abc import Iterable
from dataclasses import dataclass

from nvshare.core.core import Core
from nvshare.core.effects import Effect
from nvshare.core.events import Event
from nvshare.core.journal.journal import read_entry, read_header


@dataclass(frozen=True, slots=True)
class Difference:
    """An event that led to other effects than those in the journal."""

    line: int
    event: Event
    expected: tuple[Effect, ...]
    got: tuple[Effect, ...]


def replay(lines: Iterable[str], *, check: bool = False) -> list[Difference]:
    """Return all differences. A journal that cannot be read raises ValueError.

    Empty lines, and lines that begin with #, are skipped.
    """
    numbered = ((number, line.strip()) for number, line in enumerate(lines, 1))
    told = ((number, line) for number, line in numbered if line and not line.startswith("#"))
    _, header = next(told, (1, "{}"))
    core = Core(read_header(header), check=check)
    differences = []
    for number, line in told:
        entry = read_entry(line)
        got = tuple(core.handle(entry.event))
        if got != entry.effects:
            differences.append(Difference(number, entry.event, entry.effects, got))
    return differences
