"""How long programs that share GPUs take, against the ideal."""

from collections.abc import Iterator, Sequence

from tools.report.chart import Bar, Chart
from tools.report.lines import Line, of_bench
from tools.report.section import PLACES, Headline, Topic

# A longer bar is cut here, with an arrow at its text: all others would be too short to see.
_LONGEST_RATIO = 1.2


def _select(lines: Sequence[Line]) -> list[Line]:
    return [line for line in of_bench(lines, "scenario") if line.get("ratio") is not None]


def _by_place(lines: Sequence[Line]) -> list[Line]:
    """Keep the last run of a scenario at each place; those on the emulator come first."""
    last = {(line["scenario"], line["on"]): line for line in lines}
    return sorted(last.values(), key=lambda line: str(line["on"]))


def _bars(line: Line) -> Iterator[Bar]:
    arrow = " →" if line["ratio"] > _LONGEST_RATIO else ""
    yield Bar(line["on"], min(line["ratio"], _LONGEST_RATIO), f"{line['ratio']:.3f}{arrow}")


def _headline(lines: Sequence[Line]) -> Headline:
    # Real processes say more than the simulator.
    judged = [line for line in lines if line["on"] == "emulator"] or lines
    worst = max(judged, key=lambda line: float(line["ratio"]))
    return (
        f"times the ideal at most, on the {worst['on']} ({worst['scenario']})",
        f"{worst['ratio']:.2f}",
    )


SCENARIOS = Topic(
    title="Scenarios against the ideal",
    about=(
        "How long programs that share GPUs take, as a multiple of the ideal time: all their "
        "work, one after the other, with nothing lost. On the emulator real processes run; the "
        "simulator works the same scenario out."
    ),
    command="nvshare bench scenarios",
    select=_select,
    columns=(
        ("scenario", lambda line: str(line["scenario"])),
        ("on", lambda line: str(line["on"])),
        ("took", lambda line: f"{line['makespan_seconds']:,.1f} s"),
        ("ideal", lambda line: f"{line['ideal_seconds']:,.1f} s"),
        ("ratio", lambda line: f"{line['ratio']:.3f}"),
        ("turn changes", lambda line: f"{line['turn_changes']:,}"),
        ("moved out", lambda line: f"{line['moved_out'] / 1e9:,.1f} GB"),
    ),
    headline=_headline,
    chart=Chart(
        "scenarios", "Time taken as a multiple of the ideal", line="ideal", origin=1.0, known=PLACES
    ),
    label=lambda line: str(line["scenario"]),
    bars=_bars,
    drawn=_by_place,
)
