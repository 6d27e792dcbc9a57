"""Draws a way: a column for each lane, a box for each stretch of files, and the frames in between.

A file has a line. Where a caption says why it is on the way, it has two.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from xml.sax.saxutils import escape

from tools.docs.ways.way import Stretch, Way

_LANE_WIDTH = 410
_MARGIN = 16
_TOP = 74
_LINE = 15
_PADDING = 6
_GAP = 26
_STYLE = (
    "text{font:12px sans-serif;fill:#333}.t{font-size:16px;font-weight:bold}"
    ".l{font-weight:bold;fill:#3f6fb5}.f{font-family:monospace;fill:#777}"
    ".w{font-family:monospace;font-weight:bold}.a{fill:#b0521a}"
)
_ARROW_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0,0L8,4L0,8z" fill="#777"/></marker></defs>'
)


def draw(way: Way) -> str:
    """Return a way as SVG."""
    heights = [_height(way, one) for one in way.stretches]
    uppers = [_TOP + sum(heights[:i]) + i * _GAP for i in range(len(heights))]
    width = 2 * _MARGIN + _LANE_WIDTH * len(way.lanes)
    height = uppers[-1] + heights[-1] + _MARGIN
    size = f'width="{width}" height="{height}"'
    title = f"{way.title}: {len(way.files)} files"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        _ARROW_HEAD,
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_MARGIN}" y="26" class="t">{escape(title)}</text>',
    ]
    for lane, name in enumerate(way.lanes):
        lines.append(f'<text x="{_left(lane)}" y="50" class="l">{escape(name)}</text>')
    for one, upper, tall in zip(way.stretches, uppers, heights, strict=True):
        lines += _box(way, one, upper, tall)
    lines += _arrows(way.stretches, uppers, heights)
    return "\n".join([*lines, "</svg>", ""])


def _left(lane: int) -> int:
    return _MARGIN + _LANE_WIDTH * lane


def _height(way: Way, stretch: Stretch) -> int:
    lines = sum(2 if way.why_is(file) else 1 for file in stretch.files)
    return lines * _LINE + 2 * _PADDING


def _box(way: Way, stretch: Stretch, upper: int, height: int) -> Iterator[str]:
    left, y = _left(stretch.lane), upper + _PADDING
    yield (
        f'<rect x="{left}" y="{upper}" width="{_LANE_WIDTH - 30}" height="{height}" rx="5" '
        'fill="#f4f7fb" stroke="#9db4d6"/>'
    )
    for file in stretch.files:
        why = way.why_is(file)
        y += _LINE
        kind = "w" if why else "f"
        yield f'<text x="{left + 10}" y="{y - 3}" class="{kind}">{_short(file)}</text>'
        if why:
            y += _LINE
            yield f'<text x="{left + 22}" y="{y - 3}">{escape(why)}</text>'


def _short(file: str) -> str:
    """Return a path without the folders that all files of its lane are in."""
    parts = PurePosixPath(file).parts
    least = 2 if parts[:2] in (("src", "nvshare"), ("native", "interposer")) else 0
    return escape("/".join(parts[least:]))


def _arrows(stretches: tuple[Stretch, ...], uppers: list[int], heights: list[int]) -> Iterator[str]:
    """Yield a line from each stretch to the next, and its frames beside it."""
    if stretches[0].frames:
        yield f'<text x="{_left(0)}" y="{_TOP - 8}" class="a">{escape(stretches[0].frames)}</text>'
    numbered = list(zip(stretches, uppers, heights, strict=True))
    for (one, upper, height), (following, lower, _) in pairwise(numbered):
        begin, end = _left(one.lane) + 60, _left(following.lane) + 60
        bottom = upper + height
        middle = (bottom + lower) // 2
        path = f"M{begin},{bottom}V{middle}H{end}V{lower - 1}"
        yield f'<path d="{path}" fill="none" stroke="#777" marker-end="url(#head)"/>'
        if following.frames:
            # The words have room here: the lane that the arrow leaves has no box there.
            words = escape(following.frames)
            yield f'<text x="{begin}" y="{lower + 12}" class="a">{words}</text>'
