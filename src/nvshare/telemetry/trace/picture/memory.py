"""The memory row of a GPU: resident memory, and above it the memory that is away."""

from collections.abc import Iterator, Sequence

from nvshare.telemetry.trace.items import Gpu, Level
from nvshare.telemetry.trace.recording import Recording

HEIGHT = 40
ON_GPU = "#86a8c9"
AWAY = "#d8a9c0"
# In pixels: faster changes are averaged.
_BIN = 2.0


def most_in(recording: Recording, gpu: Gpu) -> int:
    """Return the most bytes that the row has to show."""
    levels = recording.levels.get(gpu.uuid, ())
    return max([gpu.usable, *(level.on_gpu + level.away for level in levels)])


def memory(
    recording: Recording, gpu: Gpu, per_ns: float, top: int, x: float, y: float
) -> Iterator[str]:
    """Return a row with its upper left corner at a point, scaled to a number of bytes."""
    width = (recording.end - recording.begin) * per_ns
    levels = recording.levels.get(gpu.uuid, [])
    scale = HEIGHT / max(1, top)
    bins = max(1, round(width / _BIN))
    columns = _averaged(levels, recording.begin, recording.end, bins)
    floor = y + HEIGHT
    step = width / bins
    for colour, depth, name in ((AWAY, 2, "away"), (ON_GPU, 1, "on the GPU")):
        heights = [sum(column[:depth]) * scale for column in columns]
        if any(heights):
            outline = _steps(heights, step, x, floor)
            yield f'<path fill="{colour}" d="{outline}"><title>{name}</title></path>'
    line = floor - gpu.usable * scale
    yield (
        f'<path stroke="#777" stroke-dasharray="3 3" d="M{x:.1f} {line:.1f}h{width:.1f}">'
        "<title>what programs may fill</title></path>"
    )


def _averaged(
    levels: Sequence[Level], begin: int, end: int, count: int
) -> list[tuple[float, float]]:
    """Return the averages of resident and away memory over a number of equal intervals."""
    columns = [(0.0, 0.0)] * count
    length = max(1, end - begin) / count
    ordered = sorted(levels, key=lambda level: level.at)
    ends = [level.at for level in ordered[1:]] + [end]
    for level, until in zip(ordered, ends, strict=True):
        left, right = max(0, level.at - begin) / length, min(end, until) - begin
        _add(columns, level, left, right / length)
    return columns


def _add(columns: list[tuple[float, float]], level: Level, left: float, right: float) -> None:
    place = int(left)
    while left < right and place < len(columns):
        share = min(right, place + 1) - left
        on_gpu, away = columns[place]
        columns[place] = on_gpu + share * level.on_gpu, away + share * level.away
        place += 1
        left = place


def _steps(heights: Sequence[float], step: float, x: float, floor: float) -> str:
    """Return a stepped outline; equal steps are merged."""
    parts, last = [f"M{x:.1f} {floor:g}"], ""
    for place, height in enumerate(heights):
        level = f"{floor - height:.1f}"
        if level != last:
            parts.append(f"H{x + place * step:.1f}V{level}")
            last = level
    return "".join([*parts, f"H{x + len(heights) * step:.1f}V{floor:g}z"])
