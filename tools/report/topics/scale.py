"""How fast the simulator is: how much of the scheduling core many GPUs need."""

from collections.abc import Iterator, Sequence

from tools.report.chart import Bar, Chart
from tools.report.lines import Line, of_bench
from tools.report.section import Headline, Topic


def _rate(line: Line) -> float:
    """Return simulated seconds per real second."""
    return float(line["simulated_s"]) / max(float(line["seconds"]), 0.01)


def _bars(line: Line) -> Iterator[Bar]:
    yield Bar("simulated seconds", _rate(line), f"{_rate(line):,.0f}")


def _headline(lines: Sequence[Line]) -> Headline:
    largest = max(lines, key=lambda line: int(line["gpus"]))
    return f"simulated seconds a second, {largest['gpus']} GPUs", f"{_rate(largest):,.0f}"


SCALE = Topic(
    title="Scale",
    about=(
        "Simulated seconds in a real one: the scheduling core that runs in the daemon, with all "
        "GPUs and programs of a scenario around it."
    ),
    command="nvshare bench simulator",
    select=lambda lines: of_bench(lines, "simulator"),
    columns=(
        ("scenario", lambda line: str(line["what"])),
        ("GPUs", lambda line: f"{line['gpus']:,}"),
        ("programs", lambda line: f"{line['programs']:,}"),
        ("simulated", lambda line: f"{line['simulated_s']:,} s"),
        ("events", lambda line: f"{line['events']:,}"),
        ("took", lambda line: f"{line['seconds']:.2f} s"),
    ),
    headline=_headline,
    chart=Chart("scale", "Simulated seconds in a real one"),
    label=lambda line: str(line["what"]),
    bars=_bars,
)
