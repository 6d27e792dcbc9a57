"""Bar charts as SVG: groups of bars with their values, and a mark at each target.

The file is self-contained, with its colours and fonts, and is readable on light and dark
backgrounds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

WIDTH = 900
LABELS = 270
VALUES = 96
BAR = 15
GAP = 3
BETWEEN = 12
HEAD = 34
FOOT = 26
_COLOURS = ("#3b6fb6", "#d9822b", "#3d9a6c", "#8e5ea2")
_STYLE = """\
text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#24292f}
.l{text-anchor:end}.q{fill:#6a737d}.m{text-anchor:middle}
.g{stroke:#d8dee4;stroke-width:1}.t{stroke:#24292f;stroke-width:2}
.r{stroke:#b3362b;stroke-width:1;stroke-dasharray:4 3}
"""


@dataclass(frozen=True)
class Bar:
    """One value of a group. The text is beside the bar; the target is a mark across it."""

    series: str
    value: float
    text: str
    target: float | None = None


@dataclass(frozen=True)
class Group:
    """Bars that belong together, under one label."""

    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Chart:
    """A picture: the groups from top to bottom."""

    name: str
    title: str
    groups: tuple[Group, ...] = ()
    # The name of the targets, and the name of the line where bars begin, if there is one.
    target: str = ""
    line: str = ""
    # Where bars begin: a ratio is a bar to the left or right of 1.
    origin: float = 0.0
    # Series that get the first colours, whether they are in this picture or not.
    known: tuple[str, ...] = ()


def draw(chart: Chart) -> str:
    """Return the picture, as the text of an SVG file."""
    colours = _colours(chart)
    axis = _axis(chart)
    height = HEAD + FOOT + sum(_height(group) for group in chart.groups)
    body = [*_legend(chart, colours), *_grid(chart, axis, height)]
    y = HEAD
    for group in chart.groups:
        body += _group(chart, group, colours, y, axis)
        y += _height(group)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(chart.title)}">\n'
        f"<title>{escape(chart.title)}</title>\n<style>{_STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#fff"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _colours(chart: Chart) -> dict[str, str]:
    """Return the colour of each series of a picture, in the order of the legend."""
    shown = dict.fromkeys(bar.series for group in chart.groups for bar in group.bars)
    ordered = dict.fromkeys((*chart.known, *shown))
    return {name: colour for name, colour in zip(ordered, _COLOURS, strict=False) if name in shown}


def _height(group: Group) -> int:
    return len(group.bars) * (BAR + GAP) - GAP + BETWEEN


@dataclass(frozen=True)
class _Axis:
    ticks: tuple[float, ...]

    def x(self, value: float) -> float:
        part = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return LABELS + part * (WIDTH - LABELS - VALUES)


def _axis(chart: Chart) -> _Axis:
    """Return about five round numbers, from just below the least value to just above the most."""
    values = [
        value
        for group in chart.groups
        for bar in group.bars
        for value in (bar.value, bar.target)
        if value is not None
    ]
    least, most = min([*values, chart.origin]), max([*values, chart.origin])
    rough = max(most - least, 1e-9) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough * 0.999)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    last = max(last, first + 1)
    return _Axis(tuple(round(step * number, 10) for number in range(first, last + 1)))


def _legend(chart: Chart, colours: Mapping[str, str]) -> list[str]:
    x, parts = LABELS, []
    for name, colour in colours.items():
        parts.append(f'<rect x="{x}" y="9" width="11" height="11" rx="2" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="19">{escape(name)}</text>')
        x += 34 + 7 * len(name)
    for name, look in ((chart.target, "t"), (chart.line, "r")):
        if name:
            parts.append(f'<line x1="{x + 2}" y1="7" x2="{x + 2}" y2="22" class="{look}"/>')
            parts.append(f'<text x="{x + 9}" y="19" class="q">{escape(name)}</text>')
            x += 34 + 7 * len(name)
    return parts


def _grid(chart: Chart, axis: _Axis, height: int) -> list[str]:
    bottom = height - FOOT
    parts = []
    for tick in axis.ticks:
        x = f"{axis.x(tick):.1f}"
        parts.append(f'<line x1="{x}" y1="{HEAD - 6}" x2="{x}" y2="{bottom}" class="g"/>')
        parts.append(f'<text x="{x}" y="{bottom + 16}" class="q m">{tick:,g}</text>')
    if chart.line:
        x = f"{axis.x(chart.origin):.1f}"
        parts.append(f'<line x1="{x}" y1="{HEAD - 6}" x2="{x}" y2="{bottom}" class="r"/>')
    return parts


def _group(
    chart: Chart, group: Group, colours: Mapping[str, str], y: int, axis: _Axis
) -> list[str]:
    middle = y + (_height(group) - BETWEEN) / 2
    parts = [f'<text x="{LABELS - 12}" y="{middle + 4:.1f}" class="l">{escape(group.label)}</text>']
    for bar in group.bars:
        begin, end = sorted((axis.x(chart.origin), axis.x(bar.value)))
        # A value of zero is a visible bar, too.
        parts.append(
            f'<rect x="{begin:.1f}" y="{y}" width="{max(end - begin, 1.5):.1f}" height="{BAR}" '
            f'rx="2" fill="{colours[bar.series]}"/>'
        )
        if bar.target is not None:
            at = axis.x(bar.target)
            end = max(end, at + 2)
            parts.append(
                f'<line x1="{at:.1f}" y1="{y - 2}" x2="{at:.1f}" y2="{y + BAR + 2}" class="t"/>'
            )
        parts.append(f'<text x="{end + 6:.1f}" y="{y + 12}">{escape(bar.text)}</text>')
        y += BAR + GAP
    return parts
