"""Draws the ways of ARCHITECTURE.md: which files a call, an annotation or memory passes, in order.

A way is a file of docs/ways: lanes, which are processes, and steps, each a file of the tree and
its part in the way. `make reference` writes the picture beside it; a test compares, and checks that
every file exists.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from nvshare.parsing import parse_toml
from tools.docs.pages import ROOT

FOLDER = ROOT / "docs" / "ways"

_LANE_WIDTH = 430
_MARGIN = 16
_TOP = 74
_ROW = 58
_BOX_HEIGHT = 40
_STYLE = (
    "text{font:12px sans-serif;fill:#333}.t{font-size:16px;font-weight:bold}"
    ".l{font-weight:bold;fill:#3f6fb5}.f{font-family:monospace;font-weight:bold}.a{fill:#b0521a}"
)
_ARROW_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0,0L8,4L0,8z" fill="#777"/></marker></defs>'
)


@dataclass(frozen=True)
class Step:
    """A file on the way, its lane, and the words of an arrow from another lane."""

    lane: int
    file: str
    does: str
    arrow: str = ""


@dataclass(frozen=True)
class Way:
    """A title, the names of the lanes, and the steps in their order."""

    name: str
    title: str
    lanes: tuple[str, ...]
    steps: tuple[Step, ...]


def ways(folder: Path = FOLDER) -> list[Way]:
    """Read all of them."""
    return [_read(path) for path in sorted(folder.glob("*.toml"))]


def _read(path: Path) -> Way:
    table = parse_toml(path.read_text())
    steps = tuple(Step(**one) for one in table["step"])
    return Way(path.stem, table["title"], tuple(table["lanes"]), steps)


def draw(way: Way) -> str:
    """Return a way as SVG: a column for each lane, a box for each step, arrows in between."""
    width = 2 * _MARGIN + _LANE_WIDTH * len(way.lanes)
    height = _TOP + _ROW * len(way.steps)
    size = f'width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
        f"<title>{escape(way.title)}</title>",
        f"<style>{_STYLE}</style>",
        _ARROW_HEAD,
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_MARGIN}" y="26" class="t">{escape(way.title)}</text>',
    ]
    for lane, name in enumerate(way.lanes):
        lines.append(f'<text x="{_left(lane)}" y="56" class="l">{escape(name)}</text>')
    lines += _arrows(way.steps)
    for row, step in enumerate(way.steps):
        lines += _box(row, step)
    return "\n".join([*lines, "</svg>", ""])


def _left(lane: int) -> int:
    return _MARGIN + _LANE_WIDTH * lane


def _upper(row: int) -> int:
    return _TOP + _ROW * row


def _box(row: int, step: Step) -> Iterator[str]:
    left, upper = _left(step.lane), _upper(row)
    yield (
        f'<rect x="{left}" y="{upper}" width="{_LANE_WIDTH - 40}" height="{_BOX_HEIGHT}" rx="5" '
        'fill="#f4f7fb" stroke="#9db4d6"/>'
    )
    yield f'<text x="{left + 10}" y="{upper + 17}" class="f">{escape(step.file)}</text>'
    yield f'<text x="{left + 10}" y="{upper + 33}">{escape(step.does)}</text>'


def _arrows(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield a line from each step to the next, and its words beside it."""
    if steps[0].arrow:
        yield f'<text x="{_left(0) + 260}" y="56" class="a">{escape(steps[0].arrow)}</text>'
    for row, (step, following) in enumerate(pairwise(steps)):
        begin, end = _left(step.lane) + 60, _left(following.lane) + 60
        upper, lower = _upper(row) + _BOX_HEIGHT, _upper(row + 1)
        middle = (upper + lower) // 2
        path = f"M{begin},{upper}V{middle}H{end}V{lower - 1}"
        yield f'<path d="{path}" fill="none" stroke="#777" marker-end="url(#head)"/>'
        if following.arrow:
            # The words have room here: the lane that the arrow leaves has no box in the next row.
            words = escape(following.arrow)
            yield f'<text x="{begin}" y="{lower + 12}" class="a">{words}</text>'
