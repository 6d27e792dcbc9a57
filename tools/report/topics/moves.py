"""How long a GPU is idle while memory moves."""

from collections.abc import Iterator, Sequence

from tools.report.chart import Bar, Chart
from tools.report.lines import Line, of_bench
from tools.report.section import Headline, Topic


def _bars(line: Line) -> Iterator[Bar]:
    yield Bar(
        "a change of turn", line["seconds"], f"{line['seconds']:.3f} s", line["limit_seconds"]
    )


def _headline(lines: Sequence[Line]) -> Headline:
    worst = max(line["ratio"] for line in lines)
    return "times the bus alone, per change of turn", f"{worst:.2f}"


MOVES = Topic(
    title="Memory that moves",
    about=(
        "Seconds for which a GPU is idle when a turn changes between two programs that do "
        "not fit beside each other, and what the bus alone would take for the larger direction."
    ),
    command="nvshare bench swap",
    select=lambda lines: of_bench(lines, "swap"),
    columns=(
        ("memory", lambda line: str(line["allocation"])),
        ("out per change", lambda line: f"{line['out_bytes'] / 1e9:.1f} GB"),
        ("in per change", lambda line: f"{line['in_bytes'] / 1e9:.1f} GB"),
        ("took", lambda line: f"{line['seconds']:.3f} s"),
        ("the bus alone", lambda line: f"{line['limit_seconds']:.3f} s"),
        ("ratio", lambda line: f"{line['ratio']:.3f}"),
        ("faults", lambda line: f"{line['faults']:,}"),
    ),
    headline=_headline,
    chart=Chart("moves", "Seconds per change of turn", target="the bus alone"),
    label=lambda line: f"{line['allocation']}, {line['out_bytes'] / 1e9:.1f} GB",
    bars=_bars,
)
