"""The contents of a picture, read back from its shapes."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from nvshare.telemetry.snapshot import TimeParts
from nvshare.telemetry.trace.items import Gpu, Level, Program, Spent, Turn
from nvshare.telemetry.trace.picture import draw, page
from nvshare.telemetry.trace.picture.lane import COLOURS, HEIGHT, NAMES
from nvshare.telemetry.trace.picture.memory import AWAY
from nvshare.telemetry.trace.picture.mix import mixes
from nvshare.telemetry.trace.picture.together import RANKING, summed_up
from nvshare.telemetry.trace.recording import Life, Recording

SVG = "{http://www.w3.org/2000/svg}"
SECOND = 10**9
PIECE = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v-([\d.]+)h-[\d.]+z")


def recorded(*rows: list[Spent], title: str = "t", seconds: int = 10) -> Recording:
    lives = [
        Life(Program(number, "g", f"p{number}"), spent, [Turn(number, 1, 0, SECOND)])
        for number, spent in enumerate(rows)
    ]
    levels = [Level("g", 0, 50, 0), Level("g", seconds * SECOND // 2, 80, 60)]
    gpus = [Gpu("g", 0, "T4", 100)]
    return Recording(title, 0, seconds * SECOND, gpus=gpus, lives=lives, levels={"g": levels})


def stripes(count: int, seconds: int = 10) -> tuple[list[Spent], list[Spent]]:
    """Two programs that take turns too often to be seen."""
    edges = [seconds * SECOND * number // count for number in range(count + 1)]
    pieces = list(pairwise(edges))
    words = ("computing", "waiting")
    return tuple(  # type: ignore[return-value]
        [Spent(row, words[(row + n) % 2], *piece) for n, piece in enumerate(pieces)]
        for row in (0, 1)
    )


def pieces(text: str, colour: str) -> list[tuple[float, float, float, float]]:
    """Left edge, bottom, width and height of the shapes of this colour."""
    root = ET.fromstring(text)  # noqa: S314
    shapes = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("fill") == colour]
    return [tuple(map(float, found)) for shape in shapes for found in PIECE.findall(shape)]  # type: ignore[misc]


def test_long_turns_are_where_they_were() -> None:
    mine = [Spent(0, "waiting", 0, 4 * SECOND), Spent(0, "computing", 4 * SECOND, 10 * SECOND)]
    text = draw([recorded(mine)], "title")
    lanes = [(x, width, height) for x, _, width, height in pieces(text, COLOURS["computing"])]
    # Once for all programs, and once for this one.
    assert lanes == [(page.LABELS + 400, 600, HEIGHT)] * 2


def test_short_turns_are_shaded_by_their_share() -> None:
    text = draw([recorded(*stripes(1500))], "title")
    shown = pieces(text, COLOURS["computing"])
    assert len(shown) < 20
    of_all, *of_each = shown
    assert of_all[3] == HEIGHT
    assert sum(width for _, _, width, _ in of_each) == pytest.approx(2000, abs=1)
    assert {height for *_, height in of_each} == {HEIGHT / 2}


def test_a_mix_adds_up() -> None:
    row, _ = stripes(997)
    per_ns = 500 / (10 * SECOND)
    whole = list(mixes(row, 0, per_ns))
    assert all(sum(mix.parts.values()) == pytest.approx(1) for mix in whole)
    assert (whole[0].begin, whole[-1].end) == (0, 500)
    seconds = sum((mix.end - mix.begin) * mix.parts["computing"] for mix in whole) / 50
    expected = sum(one.end - one.begin for one in row if one.state == "computing") / SECOND
    assert seconds == pytest.approx(expected)


def test_a_gpu_computes_while_anybody_does() -> None:
    rows = [Spent(0, "waiting", 0, 6), Spent(0, "computing", 6, 9), Spent(1, "memory_in", 0, 3)]
    assert [(one.state, one.begin, one.end) for one in summed_up(rows)] == [
        ("memory_in", 0, 3),
        ("waiting", 3, 6),
        ("computing", 6, 9),
    ]


def test_memory_that_is_away_is_above_what_is_there() -> None:
    text = draw([recorded([Spent(0, "idle", 0, 10 * SECOND)])], "title")
    root = ET.fromstring(text)  # noqa: S314
    (away,) = [p.get("d", "") for p in root.iter(f"{SVG}path") if p.get("fill") == AWAY]
    # 50 of 140 for the first half, then all of it, in a row of 40 pixels.
    heights = [float(level) for level in re.findall(r"V([\d.]+)", away)]
    floor = heights[-1]
    assert [round(floor - level, 1) for level in heights[:-1]] == [14.3, 40.0]


def test_policies_are_side_by_side_to_one_scale() -> None:
    short = recorded([Spent(0, "computing", 0, 5 * SECOND)], title="fair", seconds=5)
    long = recorded([Spent(0, "computing", 0, 10 * SECOND)], title="fifo")
    text = draw([short, long], "both")
    lefts = sorted({x: width for x, _, width, _ in pieces(text, COLOURS["computing"])}.items())
    (first, narrow), (second, wide) = lefts
    assert second > first + page.COLUMNS[1]
    assert wide == pytest.approx(2 * narrow)
    assert "fair: 5 s" in text
    assert "fifo: 10 s" in text


def test_foreign_names_are_escaped_and_too_many_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page, "MOST_ROWS", 1)
    recording = recorded(*([Spent(n, "idle", 0, SECOND)] for n in range(3)))
    recording.lives[0].program = Program(0, "g", "<a & b>")
    text = draw([recording], "x < y")
    assert "&lt;a &amp; b&gt;" in text
    assert "x &lt; y (2 more programs are not shown)" in text
    ET.fromstring(text)  # noqa: S314


def test_every_part_of_time_has_a_name_a_colour_and_a_rank() -> None:
    parts = set(TimeParts.model_fields) | {"starting"}
    assert set(NAMES) == set(RANKING) == parts
    # Idle time is what stays empty.
    assert set(COLOURS) == parts - {"idle"}
