"""The contents of a row: long intervals as they are, short ones as a mix.

A thousand turns within a few centimetres would be indistinguishable stripes, or a colour that
depends on how the stripes meet the pixels. Short intervals are therefore merged over a few pixels,
and shown by the part of each state.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nvshare.telemetry.trace.items import Spent

# In pixels: the least width of an interval that is shown as it is, and the width of a mix.
LONG = 4.0
BIN = 16.0


@dataclass(frozen=True, slots=True)
class Mix:
    """An interval in pixels with the part of each state in it; the parts add up to 1."""

    begin: float
    end: float
    parts: dict[str, float]


def mixes(spent: Sequence[Spent], begin: int, per_ns: float) -> Iterator[Mix]:
    """Return the contents of a row. ``begin`` is its left edge; ``per_ns`` is in pixels."""
    short: list[Spent] = []
    for one in spent:
        if (one.end - one.begin) * per_ns < LONG and (not short or short[-1].end == one.begin):
            short.append(one)
            continue
        yield from _mixed(short, begin, per_ns)
        short = []
        if (one.end - one.begin) * per_ns < LONG:
            short.append(one)
        else:
            left, right = (one.begin - begin) * per_ns, (one.end - begin) * per_ns
            yield Mix(left, right, {one.state: 1.0})
    yield from _mixed(short, begin, per_ns)


def _mixed(short: Sequence[Spent], begin: int, per_ns: float) -> Iterator[Mix]:
    if not short:
        return
    first, last = short[0].begin, short[-1].end
    count = max(1, round((last - first) * per_ns / BIN))
    edges = [first + (last - first) * number // count for number in range(count + 1)]
    for (left, right), parts in zip(itertools.pairwise(edges), _parts(short, edges), strict=True):
        yield Mix((left - begin) * per_ns, (right - begin) * per_ns, parts)


def _parts(short: Iterable[Spent], edges: Sequence[int]) -> list[dict[str, float]]:
    bins: list[dict[str, float]] = [{} for _ in edges[1:]]
    place = 0
    for one in short:
        at = one.begin
        while at < one.end:
            while edges[place + 1] <= at:
                place += 1
            until = min(one.end, edges[place + 1])
            share = (until - at) / (edges[place + 1] - edges[place])
            bins[place][one.state] = bins[place].get(one.state, 0.0) + share
            at = until
    return bins
