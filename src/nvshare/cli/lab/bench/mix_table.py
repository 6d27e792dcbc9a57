"""The figures of a set of mixes as a table, beside what they should be."""

from dataclasses import dataclass

from nvshare.cli.lab.bench.group import Line
from nvshare.cli.lab.bench.mix_results import FAIR, LEAST_FAIR
from nvshare.cli.output import Rows


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure should be at most, or at least."""

    key: str
    words: str
    limit: float
    is_least: bool = False
    is_percent: bool = False

    def met(self, line: Line) -> bool | None:
        """Return whether a set is within the bar; None if it has no such figure."""
        value = line[self.key]
        if value is None:
            return None
        return bool(value >= self.limit if self.is_least else value <= self.limit)

    def shown(self, value: float | None) -> str:
        """Return a value in the figure's unit."""
        if value is None:
            return "-"
        return f"{100 * value:.1f} %" if self.is_percent else f"{value:.2f}"


BARS = (
    Bar("wait_p50_to_bound", "wait ÷ bound, p50", 1.4),
    Bar("wait_p95_to_bound", "wait ÷ bound, p95", 1.3),
    Bar("delay_p95_to_bound", "delay ÷ bound, p95", 3.0),
    Bar(
        f"mixes_from_{FAIR}",
        f"mixes with an equal part of {FAIR}",
        0.95,
        is_least=True,
        is_percent=True,
    ),
    Bar(
        f"mixes_from_{LEAST_FAIR}",
        f"mixes with an equal part of {LEAST_FAIR}",
        1.0,
        is_least=True,
        is_percent=True,
    ),
    Bar("beyond_floor_mean", "loss beyond the floor, mean", 0.03, is_percent=True),
)


def within(line: Line) -> dict[str, bool | None]:
    """Return, by figure, whether a set is within its bars."""
    return {bar.key: bar.met(line) for bar in BARS}


def short(line: Line) -> str:
    """Return the figures of one mix that the summary is made of, as a line of text."""
    ratios = ("wait_p50_to_bound", "wait_p95_to_bound", "delay_p95_to_bound")
    told = " / ".join("-" if line[key] is None else f"{line[key]:.2f}" for key in ratios)
    beyond = 100 * (line["others_loss"] - line["loss_floor"])
    return (
        f"{line['mix']}: wait p50 / p95 / delay p95 ÷ bound {told}, "
        f"equal part {line['equal_part']:.2f}, loss beyond the floor {beyond:.1f} %, "
        f"{line['bursts']} bursts"
    )


def table(line: Line) -> Rows:
    """Return the table of a set's summary."""
    rows = Rows(f"{line['set']}: {line['mixes']} mixes", "is", "should be", "")
    for bar in BARS:
        limit = f"{'≥' if bar.is_least else '≤'} {bar.shown(bar.limit)}"
        word = {True: "yes", False: "no", None: "-"}[bar.met(line)]
        rows.add_row(bar.words, bar.shown(line[bar.key]), limit, word)
    percent = BARS[-1].shown
    others = {
        "equal part, least": f"{line['equal_part_least']:.2f}",
        "equal part, 5 % quantile": f"{line['equal_part_p5']:.2f}",
        "loss beyond the floor, most": percent(line["beyond_floor_most"]),
        "loss of the trainers, mean": percent(line["others_loss"]),
        "turn changes": str(line["turn_changes"]),
        "bursts served": f"{line['served']} of {line['bursts']}",
        "mixes with five bursts or more": str(line["with_bursts"]),
    }
    for words, value in others.items():
        rows.add_row(words, value, "", "")
    return rows
