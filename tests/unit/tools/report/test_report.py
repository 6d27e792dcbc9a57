"""The page of figures, from the output of benchmarks."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from nvshare.errors import BadInputError
from tools.report.__main__ import write
from tools.report.chart import Bar, Chart, Group, draw
from tools.report.lines import of_bench, parse, read
from tools.report.page import About, html, markdown
from tools.report.running import QUICK, commands_of, machine_of
from tools.report.topics import sections

RESULTS = Path(__file__).parent / "results.jsonl"
ABOUT = About((("processor", "one|two <fast>"),), ("nvshare bench all",))
TITLES = [
    "Overhead of a call",
    "Scenarios against the ideal",
    "Memory that moves",
    "Latency",
    "Shares of compute",
    "Hand-over of a turn",
    "Scale",
]


def rectangles(svg: str) -> list[tuple[float, float]]:
    """Return the beginnings and widths of the bars of a picture."""
    root = ET.fromstring(svg)  # noqa: S314
    found = root.iter("{http://www.w3.org/2000/svg}rect")
    return [(float(one.get("x", 0)), float(one.get("width", 0))) for one in found][2:]


def test_every_section_has_figures_and_a_picture_of_a_whole_run() -> None:
    found = sections(read(RESULTS))

    assert [section.title for section in found] == TITLES
    assert all(section.rows and section.chart and section.headline for section in found)
    assert all(len(row) == len(section.head) for section in found for row in section.rows)


def test_headlines_are_the_figures_of_the_lines() -> None:
    overhead, scenarios, moves, latency, shares, handover, _ = sections(read(RESULTS))

    launch = of_bench(read(RESULTS), "overhead")[0]
    assert overhead.headline == (
        "added to a launch",
        f"{launch['managed_ns'] - launch['bare_ns']:.0f} ns",
    )
    # Measured results count, though the simulator has a worse scenario.
    assert scenarios.headline is not None
    assert scenarios.headline[0] == "times the ideal at most, on the emulator (over-2x-2)"
    assert moves.headline == ("times the bus alone, per change of turn", "1.15")
    assert latency.headline == ("a notebook waits for a GPU (p50)", "0.57 s")
    assert shares.headline == ("percentage points off, at most", "0.02")
    assert handover.headline == ("to hand a turn over (p50)", "79 µs")


def test_large_allocations_are_in_the_table_only() -> None:
    overhead = sections(read(RESULTS))[0]

    assert overhead.chart is not None
    assert [group.label for group in overhead.chart.groups] == ["launch a kernel"]
    assert len(overhead.rows) == 2


def test_what_was_not_measured_says_how_to() -> None:
    found = sections([])

    assert [section.title for section in found] == TITLES
    assert "Not part of this run: <code>nvshare bench swap</code>" in html(found, ABOUT)
    assert "Not part of this run: `nvshare bench swap`." in markdown(found, ABOUT)


def test_both_pages_have_all_figures_and_the_machine(tmp_path: Path) -> None:
    page = write(RESULTS, tmp_path)

    as_html, as_markdown = page.read_text(), (tmp_path / "report.md").read_text()
    for section in sections(read(RESULTS)):
        for cell in (cell for row in section.rows for cell in row if cell):
            assert cell in as_html
            assert cell in as_markdown
    assert machine_of(RESULTS)["cpu"] in as_html
    assert "nvshare bench all" in as_markdown
    pictures = re.findall(r"\]\((.*?\.svg)\)", as_markdown)
    assert len(pictures) == len(TITLES)
    for picture in pictures:
        ET.fromstring((tmp_path / picture).read_text())  # noqa: S314


def test_text_is_escaped() -> None:
    assert "one|two &lt;fast&gt;" in html([], ABOUT)
    assert "| processor | one/two <fast> |" in markdown([], ABOUT)


def test_bars_are_as_long_as_their_values() -> None:
    bars = tuple(Group(f"<{value}>", (Bar("a", value, "x"),)) for value in (1.0, 2.0, 4.0))

    one, two, four = rectangles(draw(Chart("c", "title", bars)))

    assert two[1] == pytest.approx(2 * one[1], abs=0.2)
    assert four[1] == pytest.approx(4 * one[1], abs=0.2)


def test_a_ratio_is_a_bar_to_the_left_or_right_of_one() -> None:
    bars = tuple(Group("", (Bar("a", value, "x"),)) for value in (0.9, 1.1))

    left, right = rectangles(draw(Chart("c", "title", bars, line="ideal", origin=1.0)))

    assert left[0] + left[1] == pytest.approx(right[0], abs=0.2)
    assert left[1] == pytest.approx(right[1], abs=0.2)


def test_a_series_has_its_colour_whatever_is_beside_it() -> None:
    def colour(*series: str) -> str:
        bars = tuple(Bar(name, 1.0, "x") for name in series)
        picture = draw(Chart("c", "title", (Group("", bars),), known=("emulator", "simulator")))
        found = re.search(r'fill="(#\w+)"/>\n<text x="\d+" y="19">simulator', picture)
        assert found is not None
        return found[1]

    assert colour("simulator") == colour("emulator", "simulator")


def test_nothing_at_all_can_be_drawn() -> None:
    assert rectangles(draw(Chart("c", "title", (Group("", (Bar("a", 0.0, "0"),)),)))) != []


def test_lines_are_objects_or_comments() -> None:
    assert parse(["# a comment", "", '{"bench": "x"}'], "here") == [{"bench": "x"}]
    for bad in ("no json", "[1]"):
        with pytest.raises(BadInputError, match="line 2 of here"):
            parse(["{}", bad], "here")


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        read(tmp_path / "none.jsonl")


def test_commands_are_read_back_from_the_file() -> None:
    assert commands_of(RESULTS) == ("nvshare bench all",)


def test_the_quick_set_measures_something_for_every_section() -> None:
    benches = {command[1] for command in QUICK}

    commands = {section.command.split()[2].rstrip("s") for section in sections([])}
    assert commands <= {bench.rstrip("s") for bench in benches}
