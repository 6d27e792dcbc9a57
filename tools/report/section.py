"""A section of the page, and how one is made: a topic says what to show of which lines.

A topic whose benchmark was not run still has its section, which names the command that fills it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tools.report.chart import Bar, Chart, Group
from tools.report.lines import Line

# The origins of figures, for charts with both: each has the same colour on the whole page.
PLACES = ("emulator", "simulator")

Headline = tuple[str, str]
"""What is measured, and the figure."""
Column = tuple[str, Callable[[Line], str]]
"""The heading of a column, and the text of a cell."""


@dataclass(frozen=True)
class Section:
    """A heading, a description, and the measurements; the headline is one figure of them."""

    title: str
    about: str
    command: str
    headline: Headline | None = None
    chart: Chart | None = None
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.rows)


def _all(lines: Sequence[Line]) -> Sequence[Line]:
    return lines


@dataclass(frozen=True)
class Topic:
    """How one benchmark is shown. Functions get lines of this benchmark only."""

    title: str
    about: str
    command: str
    # From all lines of a run, those of this topic.
    select: Callable[[Sequence[Line]], Sequence[Line]]
    columns: tuple[Column, ...]
    # Called with at least one line.
    headline: Callable[[Sequence[Line]], Headline | None]
    # The picture without its bars. Lines with the same label are one group of bars.
    chart: Chart
    label: Callable[[Line], str]
    bars: Callable[[Line], Iterable[Bar]]
    # Which lines are in the picture; the table has all.
    drawn: Callable[[Sequence[Line]], Sequence[Line]] = _all

    def section(self, lines: Sequence[Line]) -> Section:
        """Return the section of this topic, from all lines of a run."""
        found = self.select(lines)
        groups = self._groups(self.drawn(found))
        return Section(
            self.title,
            self.about,
            self.command,
            headline=self.headline(found) if found else None,
            chart=replace(self.chart, groups=groups) if groups else None,
            head=tuple(head for head, _ in self.columns),
            rows=tuple(tuple(cell(line) for _, cell in self.columns) for line in found),
        )

    def _groups(self, lines: Sequence[Line]) -> tuple[Group, ...]:
        bars: dict[str, list[Bar]] = {}
        for line in lines:
            bars.setdefault(self.label(line), []).extend(self.bars(line))
        return tuple(Group(label, tuple(found)) for label, found in bars.items())
