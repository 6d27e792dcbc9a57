"""A picture of who ran when and who moved memory when, as SVG. Written by hand, no library."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from nvshare.sim.engine import Outcome
from nvshare.sim.record import Kind, Record, Span

WIDTH = 1200
LABELS = 180
ROW = 18
GAP = 10
HEAD = 46
FOOT = 26
# A picture with more rows than this cannot be looked at.
MOST_ROWS = 400

# In the order in which they are painted: what comes later covers what came before.
COLOURS = {
    Kind.STARTUP: "#d9d9d9",
    Kind.WAIT: "#f3c77a",
    Kind.RUN: "#3b8f5a",
    Kind.OUT: "#b04a8f",
    Kind.IN: "#3f6fb5",
}
# Moves are drawn lower than the rest, so that both can be seen.
HEIGHTS = {Kind.IN: 6, Kind.OUT: 6}


def draw(outcome: Outcome) -> str:
    """Return the picture; the simulation must have been run with ``picture=True``."""
    records = sorted((r for r in outcome.records if r.gpu >= 0), key=lambda r: r.gpu)
    hidden, records = len(records) - MOST_ROWS, records[:MOST_ROWS]
    scale = (WIDTH - LABELS - 20) / max(outcome.ended, 1e-9)
    rows, height = _rows(records, scale)
    title = outcome.scenario.title or outcome.scenario.name
    more = f" ({hidden} more programs are not shown)" if hidden > 0 else ""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height + FOOT}">',
            "<style>text { font: 11px sans-serif } .title { font-size: 14px }</style>",
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="8" y="18" class="title">{escape(title + more)}</text>',
            *_legend(),
            *_axis(outcome.ended, scale, height),
            *rows,
            "</svg>\n",
        ]
    )


def _rows(records: Sequence[Record], scale: float) -> tuple[list[str], int]:
    lines, y, gpu = [], HEAD, -1
    for record in records:
        if record.gpu != gpu:
            y += GAP if gpu >= 0 else 0
            gpu = record.gpu
            lines.append(f'<text x="8" y="{y + 13}" fill="#666">GPU {gpu}</text>')
        name = escape(record.name[:22])
        lines.append(f'<text x="{LABELS - 6}" y="{y + 13}" text-anchor="end">{name}</text>')
        lines += _bars(record, scale, y)
        y += ROW
    return lines, y


def _bars(record: Record, scale: float, y: int) -> Iterator[str]:
    for kind, colour in COLOURS.items():
        height = HEIGHTS.get(kind, ROW - 4)
        spans = [span for span in record.spans or () if span.kind is kind]
        for begin, end in _merged(spans, 0.5 / scale):
            x, width = LABELS + begin * scale, max((end - begin) * scale, 0.5)
            yield (
                f'<rect x="{x:.2f}" y="{y + 2}" width="{width:.2f}" height="{height}" '
                f'fill="{colour}"><title>{kind.value} {begin:.2f}-{end:.2f} s</title></rect>'
            )


def _merged(spans: Iterable[Span], gap: float) -> Iterator[tuple[float, float]]:
    """Join what is too close together to be told apart."""
    begin = end = None
    for span in sorted(spans, key=lambda span: span.begin):
        if begin is None or end is None:
            begin, end = span.begin, span.end
        elif span.begin - end <= gap:
            end = max(end, span.end)
        else:
            yield begin, end
            begin, end = span.begin, span.end
    if begin is not None and end is not None:
        yield begin, end


def _legend() -> Iterator[str]:
    x = LABELS
    for kind, colour in COLOURS.items():
        yield f'<rect x="{x}" y="26" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 14}" y="35">{kind.value}</text>'
        x += 100


def _axis(seconds: float, scale: float, height: int) -> Iterator[str]:
    step = _round_step(seconds)
    ticks = int(seconds / step) + 1
    for tick in range(ticks):
        x = LABELS + tick * step * scale
        yield f'<line x1="{x:.2f}" y1="{HEAD}" x2="{x:.2f}" y2="{height}" stroke="#e5e5e5"/>'
        label = f"{tick * step:g} s"
        yield f'<text x="{x:.2f}" y="{height + 16}" text-anchor="middle">{label}</text>'


def _round_step(seconds: float) -> float:
    """Return a round number of which about ten make up the whole."""
    step = 1e-6
    while True:
        for factor in (1, 2, 5):
            if step * factor * 10 >= seconds:
                return step * factor
        step *= 10
