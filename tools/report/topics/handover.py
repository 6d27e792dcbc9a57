"""How long the hand-over of a turn takes, where no memory moves."""

from collections.abc import Iterator, Sequence

from tools.report.chart import Bar, Chart
from tools.report.lines import Line, of_bench
from tools.report.section import Headline, Topic


def _bars(line: Line) -> Iterator[Bar]:
    for name, key in (("half of them (p50)", "p50_us"), ("99 of 100 (p99)", "p99_us")):
        yield Bar(name, line[key], f"{line[key]:,.0f} µs")


def _headline(lines: Sequence[Line]) -> Headline:
    return "to hand a turn over (p50)", f"{lines[0]['p50_us']:.0f} µs"


HANDOVER = Topic(
    title="Hand-over of a turn",
    about=(
        "Microseconds from the end of one program's turn to the first kernel of the next one, "
        "if no memory has to move."
    ),
    command="nvshare bench handover",
    select=lambda lines: of_bench(lines, "handover"),
    columns=(
        ("programs", lambda line: str(line["clients"])),
        ("p50", lambda line: f"{line['p50_us']:,.1f} µs"),
        ("p99", lambda line: f"{line['p99_us']:,.1f} µs"),
        ("hand-overs", lambda line: f"{line['handovers']:,}"),
    ),
    headline=_headline,
    chart=Chart("handover", "Microseconds per hand-over"),
    label=lambda line: f"{line['clients']} programs",
    bars=_bars,
)
