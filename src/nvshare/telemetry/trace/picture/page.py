"""The whole picture: a column of rows for each recording, all to the same scale of time.

A GPU has a row for all its programs together, with the totals, one for each program, and one for
memory. A program is in the same row of every column.
"""

from collections.abc import Iterator, Sequence
from html import escape

from nvshare.telemetry.trace.items import Gpu, Spent
from nvshare.telemetry.trace.picture.lane import COLOURS, IDLE, NAMES, in_words, lane
from nvshare.telemetry.trace.picture.memory import AWAY, ON_GPU, memory, most_in
from nvshare.telemetry.trace.picture.memory import HEIGHT as MEMORY
from nvshare.telemetry.trace.picture.together import summed_up
from nvshare.telemetry.trace.recording import Life, Recording
from nvshare.telemetry.words import gib

LABELS = 190
# The width of a column if there are one, two, or more of them.
COLUMNS = (1000, 620, 460)
BETWEEN = 24
MARGIN = 16
ROW = 19
HEAD = 74
FOOT = 30
# A picture with more rows than this is unreadable.
MOST_ROWS = 400
_LONGEST_NAME = 26


class _Page:
    """The common data of all rows, and the present height."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self.recordings = recordings
        self.column = COLUMNS[min(len(recordings), len(COLUMNS)) - 1]
        self.longest = max([1, *(one.end - one.begin for one in recordings)])
        self.per_ns = self.column / self.longest
        self.y = HEAD
        self.rows = 0
        self.hidden = 0
        self.lines: list[str] = []

    @property
    def width(self) -> int:
        return self.left(len(self.recordings)) - BETWEEN + MARGIN

    def left(self, place: int) -> int:
        return LABELS + place * (self.column + BETWEEN)

    def label(self, text: str, look: str = "") -> None:
        shown = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        self.lines.append(
            f'<text x="{LABELS - 10}" y="{self.y + 11}" class="r {look}">{escape(shown)}'
            f"<title>{escape(text)}</title></text>"
        )


def draw(recordings: Sequence[Recording], title: str) -> str:
    """Return the picture of some recordings, as the text of an SVG file."""
    page = _Page(recordings)
    for index in sorted({gpu.index for one in recordings for gpu in one.gpus}):
        _gpu(page, index)
    if page.hidden:
        title = f"{title} ({page.hidden} more programs are not shown)"
    height = page.y + FOOT
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{page.width}" height="{height}" '
                f'viewBox="0 0 {page.width} {height}">'
            ),
            (
                "<style>text{font:11px sans-serif;fill:#333}.r{text-anchor:end}"
                ".m{text-anchor:middle}.t{font-size:15px;font-weight:bold}.b{font-weight:bold}.g{fill:#777}</style>"
            ),
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{MARGIN}" y="24" class="t">{escape(title)}</text>',
            *_legend(),
            *_axes(page),
            *page.lines,
            "</svg>\n",
        ]
    )


def _gpu(page: _Page, index: int) -> None:
    here = [next((g for g in one.gpus if g.index == index), None) for one in page.recordings]
    lives = [one.on(g) if g else [] for one, g in zip(page.recordings, here, strict=True)]
    if not any(lives):
        return
    known = next(gpu for gpu in here if gpu is not None)
    page.label(f"GPU {index} {known.name}", "b")
    for place, own in enumerate(lives):
        page.lines.append(_summary(page, place, own))
    page.y += ROW - 3
    page.label("all programs", "g")
    for place, own in enumerate(lives):
        _lane(page, place, summed_up(spent for life in own for spent in life.spent))
    page.y += ROW
    _programs(page, lives)
    _memory(page, here)
    page.y += 18


def _programs(page: _Page, lives: Sequence[Sequence[Life]]) -> None:
    ordered = sorted((life for own in lives for life in own), key=lambda life: life.bounds[0])
    for number, program in {life.program.id: life.program for life in ordered}.items():
        if page.rows >= MOST_ROWS:
            page.hidden += 1
            continue
        page.rows += 1
        page.label(f"{program.name} {program.pid}" if program.pid else program.name)
        for place, own in enumerate(lives):
            for life in own:
                if life.program.id == number:
                    _lane(page, place, life.spent)
        page.y += ROW


def _lane(page: _Page, place: int, spent: Sequence[Spent]) -> None:
    begin = page.recordings[place].begin
    page.lines += lane(spent, begin, page.per_ns, page.left(place), page.y)


def _summary(page: _Page, place: int, lives: Sequence[Life]) -> str:
    row = summed_up(spent for life in lives for spent in life.spent)
    turns = sum(len(life.turns) for life in lives)
    moved = sum(move.bytes_in + move.bytes_out for life in lives for move in life.moves)
    heading = f"{page.recordings[place].title}: " if len(page.recordings) > 1 else ""
    length = _seconds(page.recordings[place])
    text = f"{heading}{length}, {in_words(row)}, {turns} turns, {gib(moved)} GiB moved"
    return f'<text x="{page.left(place)}" y="{page.y + 11}">{escape(text)}</text>'


def _seconds(recording: Recording) -> str:
    seconds = recording.seconds
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


def _memory(page: _Page, here: Sequence[Gpu | None]) -> None:
    pairs = zip(page.recordings, here, strict=True)
    top = max(most_in(recording, gpu) for recording, gpu in pairs if gpu)
    usable = next(gpu.usable for gpu in here if gpu)
    page.y += 4
    page.label("memory")
    page.lines.append(
        f'<text x="{LABELS - 10}" y="{page.y + 25}" class="r g">{gib(usable)} GiB fit</text>'
    )
    for place, (recording, gpu) in enumerate(zip(page.recordings, here, strict=True)):
        if gpu:
            page.lines += memory(recording, gpu, page.per_ns, top, page.left(place), page.y)
    page.y += MEMORY + 6


def _legend() -> Iterator[str]:
    x = LABELS
    shown = [(COLOURS[state], NAMES[state]) for state in COLOURS]
    for colour, name in (*shown, (IDLE, "idle"), (ON_GPU, "on the GPU"), (AWAY, "away")):
        yield f'<rect x="{x}" y="38" width="11" height="11" fill="{colour}"/>'
        yield f'<text x="{x + 15}" y="48">{name}</text>'
        x += 31 + 6 * len(name)


def _axes(page: _Page) -> Iterator[str]:
    seconds = page.longest / 1e9
    step = _round_step(seconds * min(1.0, 1000 / page.column))
    for place in range(len(page.recordings)):
        for tick in range(int(seconds / step + 1e-9) + 1):
            x = page.left(place) + tick * step * 1e9 * page.per_ns
            yield f'<path stroke="#e4e6ea" d="M{x:.1f} {HEAD - 6}V{page.y}"/>'
            label = f"{tick * step:g} s"
            yield f'<text x="{x:.1f}" y="{page.y + 14}" class="m g">{label}</text>'


def _round_step(seconds: float) -> float:
    """Return a round step of which about ten make up the whole."""
    step = 1e-6
    while True:
        for factor in (1, 2, 5):
            if step * factor * 10 >= seconds:
                return step * factor
        step *= 10
