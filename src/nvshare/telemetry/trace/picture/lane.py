"""One row of a picture: the states of a program or a GPU. mix.py computes what to draw."""

from collections.abc import Iterator, Sequence

from nvshare.telemetry.trace.items import Spent
from nvshare.telemetry.trace.picture.mix import Mix, mixes

HEIGHT = 14
# From the bottom of a row to its top; idle time stays empty.
COLOURS = {
    "computing": "#2f9e62",
    "memory_in": "#3f6fb5",
    "memory_out": "#9159a8",
    "thrashing": "#b3261e",
    "held_back": "#d9703b",
    "waiting": "#f0c458",
    "starting": "#bfc4cc",
}
IDLE = "#eceef1"
NAMES = {
    "computing": "computing",
    "memory_in": "memory in",
    "memory_out": "memory out",
    "thrashing": "thrashing",
    "held_back": "held back",
    "waiting": "waiting",
    "starting": "starting",
    "idle": "idle",
}


def lane(spent: Sequence[Spent], begin: int, per_ns: float, x: float, y: float) -> Iterator[str]:
    """Return a row with its upper left corner at a point."""
    if not spent:
        return
    left = x + (spent[0].begin - begin) * per_ns
    width = max(0.5, (spent[-1].end - spent[0].begin) * per_ns)
    yield f"<g><title>{in_words(spent)}</title>"
    yield f'<rect x="{left:.1f}" y="{y:g}" width="{width:.1f}" height="{HEIGHT}" fill="{IDLE}"/>'
    shapes: dict[str, list[str]] = {state: [] for state in COLOURS}
    for mix in _joined(mixes(spent, begin, per_ns)):
        _stack(shapes, mix, x, y)
    for state, pieces in shapes.items():
        if pieces:
            yield f'<path fill="{COLOURS[state]}" d="{"".join(pieces)}"/>'
    yield "</g>"


def in_words(spent: Sequence[Spent]) -> str:
    """Return the totals of a row."""
    total = sum(one.end - one.begin for one in spent) or 1
    shares = {
        state: sum(one.end - one.begin for one in spent if one.state == state) / total
        for state in NAMES
    }
    return ", ".join(f"{NAMES[state]} {part:.0%}" for state, part in shares.items() if part >= 5e-3)


def _stack(shapes: dict[str, list[str]], mix: Mix, x: float, y: float) -> None:
    bottom = y + HEIGHT
    width = max(0.5, mix.end - mix.begin)
    for state, pieces in shapes.items():
        height = mix.parts.get(state, 0.0) * HEIGHT
        if height:
            pieces.append(f"M{x + mix.begin:.1f} {bottom:g}h{width:.1f}v-{height:g}h-{width:.1f}z")
            bottom -= height


def _joined(row: Iterator[Mix]) -> Iterator[Mix]:
    """Merge neighbours that look the same; heights are whole pixels."""
    last: Mix | None = None
    for mix in row:
        seen = Mix(mix.begin, mix.end, _in_pixels(mix.parts))
        if last is not None and last.parts == seen.parts and abs(last.end - seen.begin) < 0.05:
            last = Mix(last.begin, seen.end, seen.parts)
        else:
            if last is not None:
                yield last
            last = seen
    if last is not None:
        yield last


def _in_pixels(parts: dict[str, float]) -> dict[str, float]:
    """Round to pixels from the bottom up, so that the sum is the height of the row."""
    rounded, height, top = {}, 0.0, 0
    for state in (*COLOURS, "idle"):
        height += parts.get(state, 0.0) * HEIGHT
        pixels, top = round(height) - top, round(height)
        if pixels:
            rounded[state] = pixels / HEIGHT
    return rounded
