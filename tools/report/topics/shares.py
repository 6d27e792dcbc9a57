"""How near programs come to the share of compute that they were given."""

from collections.abc import Iterator, Sequence

from tools.report.chart import Bar, Chart
from tools.report.lines import Line, of_bench
from tools.report.section import PLACES, Headline, Topic


def _select(lines: Sequence[Line]) -> list[Line]:
    return [line for line in of_bench(lines, "shares") if line.get("worst_error") is not None]


def _judged(lines: Sequence[Line]) -> list[Line]:
    """Keep cases with a tolerance. Cases with turns because of memory have a ratio instead."""
    return [
        line
        for line in lines
        if line.get("tolerance") is not None and any(one is not None for one in line["set"])
    ]


def _bars(line: Line) -> Iterator[Bar]:
    yield Bar(line["on"], line["worst_error"], f"{line['worst_error']:.2f}", line["tolerance"])


def _headline(lines: Sequence[Line]) -> Headline | None:
    worst = max((float(line["worst_error"]) for line in _judged(lines)), default=None)
    return None if worst is None else ("percentage points off, at most", f"{worst:.2f}")


def _allowed(line: Line) -> str:
    return "" if line.get("tolerance") is None else f"{line['tolerance']:g}"


SHARES = Topic(
    title="Shares of compute",
    about=(
        "How far the worst program of a case is from the share that it was given, in percentage "
        "points of a GPU's time, and how far it may be."
    ),
    command="nvshare bench shares",
    select=_select,
    columns=(
        ("case", lambda line: str(line["case"])),
        ("on", lambda line: str(line["on"])),
        (
            "set",
            lambda line: " + ".join("none" if one is None else f"{one:g}" for one in line["set"]),
        ),
        ("got", lambda line: " + ".join(f"{one:.2f}" for one in line["got"])),
        ("worst error", lambda line: f"{line['worst_error']:.2f}"),
        ("allowed", _allowed),
    ),
    headline=_headline,
    chart=Chart("shares", "Percentage points off the share", target="allowed", known=PLACES),
    label=lambda line: str(line["case"]),
    bars=_bars,
    drawn=_judged,
)
