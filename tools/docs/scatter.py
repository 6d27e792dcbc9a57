"""Draws labelled points as SVG: the lower, the better; the ratios upwards are on a log scale.

The look is that of the pictures of traces (src/nvshare/telemetry/trace/picture).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 820, 460
LEFT, TOP, RIGHT, BOTTOM = 64, 84, 150, 52
_RADIUS = 4.5
# The height of a label, and the width of a letter; where a label begins, seen from its point: below
# it, since lines mostly rise to the right.
_LINE, _LETTER = 13, 6.0
_BESIDE, _BELOW = 6, 13
# The colours of the states in pictures of traces.
_COLOURS = ("#3f6fb5", "#d9703b", "#2f9e62", "#9159a8", "#f0c458", "#777777")
_GOOD = "#2f9e62"
_STYLE = (
    "text{font:11px sans-serif;fill:#333}.r{text-anchor:end}.m{text-anchor:middle}"
    ".t{font-size:15px;font-weight:bold}.g{fill:#777}"
)
_TICKS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)


@dataclass(frozen=True)
class Point:
    """A point, what it is called, its series, and whether it is drawn hollow."""

    x: float
    y: float
    label: str
    series: str
    hollow: bool = False


@dataclass(frozen=True)
class Axis:
    """What an axis shows.

    ``bar``: what values should be at most or, with ``is_least``, at least.
    """

    words: str
    bar: float | None = None
    is_least: bool = False
    is_percent: bool = False

    def text(self, value: float) -> str:
        """Return a value as it is written at the axis."""
        return f"{100 * value:g} %" if self.is_percent else f"{value:g}"


def draw(
    title: str, points: Sequence[Point], x: Axis, y: Axis, note: str = "", floor: float = 1.0
) -> str:
    """Return the picture. ``floor``: a value upwards that is always shown."""
    page = _Page(points, x, y, floor)
    colours = dict(zip(dict.fromkeys(one.series for one in points), _cycle(), strict=False))
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
                f'viewBox="0 0 {WIDTH} {HEIGHT}">'
            ),
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="16" y="24" class="t">{escape(title)}</text>',
            f'<text x="16" y="42" class="g">{escape(note)}</text>',
            *page.good(),
            *page.grid(),
            *_lines(page, points, colours),
            *_points(page, points, colours),
            *_labels(page, points),
            "</svg>\n",
        ]
    )


class _Page:
    """Where values are on the picture."""

    def __init__(self, points: Sequence[Point], x: Axis, y: Axis, floor: float) -> None:
        self._x, self._y = x, y
        self._across = _round_numbers([one.x for one in points] + _known(x.bar))
        values = [one.y for one in points] + [floor] + _known(y.bar)
        least, most = min(values), max(values)
        below = [tick for tick in _TICKS if tick <= least] or [least]
        above = [tick for tick in _TICKS if tick >= most] or [most * 1.1]
        self._low, self._high = below[-1], max(above[0], below[-1] * 1.5)

    def x(self, value: float) -> float:
        first, last = self._across[0], self._across[-1]
        return LEFT + (value - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        part = math.log(value / self._low) / math.log(self._high / self._low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    def good(self) -> Iterator[str]:
        """Shade where a point should be."""
        if self._x.bar is None or self._y.bar is None:
            return
        at, right = self.x(self._x.bar), WIDTH - RIGHT
        left, width = (at, right - at) if self._x.is_least else (LEFT, at - LEFT)
        top = self.y(self._y.bar)
        yield (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
            f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{_GOOD}" opacity="0.12">'
            "<title>as it should be</title></rect>"
        )

    def grid(self) -> Iterator[str]:
        """Draw the axes, with lines at round numbers."""
        top, bottom, right = TOP, HEIGHT - BOTTOM, WIDTH - RIGHT
        for value in self._across:
            x = f"{self.x(value):.1f}"
            yield f'<path d="M{x},{top}V{bottom}" stroke="#eceef1"/>'
            yield f'<text x="{x}" y="{bottom + 16}" class="g m">{self._x.text(value)}</text>'
        for value in _TICKS:
            if self._low <= value <= self._high:
                y = self.y(value)
                yield f'<path d="M{LEFT},{y:.1f}H{right}" stroke="#eceef1"/>'
                text = self._y.text(value)
                yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" class="g r">{text}</text>'
        middle = (LEFT + right) / 2
        yield f'<text x="{middle:g}" y="{bottom + 36}" class="m">{escape(self._x.words)}</text>'
        yield f'<text x="16" y="{TOP - 14}">{escape(self._y.words)}</text>'


def _lines(page: _Page, points: Sequence[Point], colours: dict[str, str]) -> Iterator[str]:
    """Join the points of a series that are drawn in the same way."""
    for series, colour in colours.items():
        for hollow in (False, True):
            own = [one for one in points if (one.series, one.hollow) == (series, hollow)]
            path = "L".join(f"{page.x(p.x):.1f},{page.y(p.y):.1f}" for p in sorted(own, key=_place))
            if len(own) > 1:
                dash = ' stroke-dasharray="4 3"' if hollow else ""
                yield f'<path d="M{path}" fill="none" stroke="{colour}" opacity="0.6"{dash}/>'


def _points(page: _Page, points: Sequence[Point], colours: dict[str, str]) -> Iterator[str]:
    for one in points:
        colour = colours[one.series]
        fill = "white" if one.hollow else colour
        yield (
            f'<circle cx="{page.x(one.x):.1f}" cy="{page.y(one.y):.1f}" r="{_RADIUS}" '
            f'fill="{fill}" stroke="{colour}" stroke-width="1.5">'
            f"<title>{escape(one.label)}: {one.x:g}, {one.y:g}</title></circle>"
        )


def _labels(page: _Page, points: Sequence[Point]) -> Iterator[str]:
    """Write each label beside its point, or lower if another one is there."""
    taken: list[tuple[float, float, float]] = []
    for one in sorted(points, key=lambda point: page.y(point.y)):
        width = _LETTER * len(one.label)
        left, y = min(page.x(one.x) + _BESIDE, WIDTH - width), page.y(one.y) + _BELOW
        right = left + width
        for begin, end, other in sorted(taken, key=lambda place: place[2]):
            if left < end and begin < right and abs(y - other) < _LINE:
                y = other + _LINE
        taken.append((left, right, y))
        yield f'<text x="{left:.1f}" y="{y:.1f}">{escape(one.label)}</text>'


def _place(point: Point) -> tuple[float, float]:
    return point.x, point.y


def _known(value: float | None) -> list[float]:
    return [] if value is None else [value]


def _cycle() -> Iterator[str]:
    while True:
        yield from _COLOURS


def _round_numbers(values: Sequence[float]) -> list[float]:
    """Return about five round numbers, from below the least value to above the most."""
    least, most = min(values), max(values)
    rough = max(most - least, 1e-3) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough * 0.999)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [round(step * number, 10) for number in range(first, max(last, first + 1) + 1)]
