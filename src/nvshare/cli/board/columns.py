"""A table without rules between columns. Columns that do not fit are left out."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

# Gaps between two columns: the widest that does not cost a column.
_GAPS = (2, 1)


@dataclass(frozen=True, slots=True)
class Column:
    """A column. The column with the highest ``rank`` is left out first; without one, never."""

    heading: str
    rank: int = 0
    justify: JustifyMethod = "left"


def fitting(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int
) -> tuple[list[int], int]:
    """Return the numbers of the columns that fit without being cut, and the gap between two."""
    found = [(_kept(columns, rows, width, gap), gap) for gap in _GAPS]
    return max(found, key=lambda one: len(one[0]))


def _kept(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int, gap: int
) -> list[int]:
    widths = [
        max([cell_len(column.heading), *(cell_len(row[i]) for row in rows)])
        for i, column in enumerate(columns)
    ]
    kept = list(range(len(columns)))
    dispensable = sorted((i for i in kept if columns[i].rank), key=lambda i: -columns[i].rank)
    for number in dispensable:
        if sum(widths[i] + gap for i in kept) - gap <= width:
            break
        kept.remove(number)
    return kept


def make_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    width: int,
    styles: Sequence[str],
) -> Table:
    """Make a table of the columns that fit, each row in its style."""
    kept, gap = fitting(columns, rows, width)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False)
    for column in (columns[number] for number in kept):
        table.add_column(column.heading, justify=column.justify, overflow="fold")
    for row, style in zip(rows, styles, strict=True):
        table.add_row(*(Text(row[i]) for i in kept), style=style)
    return table
