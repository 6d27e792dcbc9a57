"""How verbs print for people: tables that are never truncated."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.live import Live
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

# Wider than any table: a pipe or a file has no width at which text would have to be cut.
_ENDLESS = 1 << 16


def console() -> Console:
    """Return the console to print on: a terminal has its own width, anything else has no limit."""
    found = Console()
    return found if found.is_terminal else Console(width=_ENDLESS)


def show(what: RenderableType) -> None:
    """Print something once."""
    console().print(what)


def follow(draw: Callable[[], RenderableType], seconds: float) -> None:
    """Show something again and again until Control-C: in place, or one after another in a pipe."""
    place = console()
    # Control-C is the normal way to end it.
    with contextlib.suppress(KeyboardInterrupt):
        if not place.is_terminal:
            while True:
                place.print(draw())
                place.file.flush()
                time.sleep(seconds)
        with Live(console=place, auto_refresh=False, vertical_overflow="visible") as live:
            while True:
                live.update(draw(), refresh=True)
                time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Column:
    """A column. The column with the highest ``rank`` is left out first; without one, never."""

    heading: str
    rank: int = 0
    justify: JustifyMethod = "left"


class Rows:
    """A table that leaves out columns that do not fit, and never cuts the text of a cell.

    If even the columns that have to stay do not fit, their text wraps.
    """

    def __init__(self, *columns: Column | str, title: str | None = None) -> None:
        self._columns = [Column(one) if isinstance(one, str) else one for one in columns]
        self._title = title
        self._rows: list[tuple[str, ...]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add_row(self, *cells: str) -> None:
        """Add a row; a cell may have markup in it."""
        if len(cells) != len(self._columns):
            raise ValueError(f"{len(cells)} cells in a row of {len(self._columns)}")
        self._rows.append(cells)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        kept = self._fitting(console, options)
        yield self._table(kept)
        if left_out := [one.heading for i, one in enumerate(self._columns) if i not in kept]:
            names = ", ".join(left_out)
            words = f"No room for: {names}. A wider terminal, a pipe or --json shows them."
            yield Text(words, style="dim")

    def _fitting(self, console: Console, options: ConsoleOptions) -> list[int]:
        """Return the numbers of the columns that fit."""
        kept = list(range(len(self._columns)))
        endless = options.update(max_width=_ENDLESS)
        for number in self._dispensable():
            wanted = Measurement.get(console, endless, self._table(kept)).maximum
            if wanted <= options.max_width:
                break
            kept.remove(number)
        return kept

    def _dispensable(self) -> list[int]:
        ranked = [i for i, column in enumerate(self._columns) if column.rank]
        return sorted(ranked, key=lambda i: (self._columns[i].rank, i), reverse=True)

    def _table(self, kept: Sequence[int]) -> Table:
        table = Table(title=self._title, title_justify="left")
        for column in (self._columns[i] for i in kept):
            table.add_column(column.heading, justify=column.justify, overflow="fold")
        for row in self._rows:
            table.add_row(*(row[i] for i in kept))
        return table
