"""The table at the end: with nvshare, without, alone, and what would be possible at best."""

from rich.markup import escape

from nvshare.cli.output import Column, Rows
from nvshare.lab.sim.figures import Figures


def draw(shared: Figures, unscheduled: Figures) -> Rows:
    """Draw both results beside the job that runs alone and the best case."""
    table = Rows(
        *("", "with nvshare", "without", Column("one alone", rank=2), Column("ideal", rank=1)),
        title="Emulated seconds",
    )
    alone, ideal = _seconds(shared.baseline_s), _seconds(shared.ideal_s)
    mark = "~" if unscheduled.more.get("extrapolated") else ""
    for one, other in zip(shared.clients, unscheduled.clients, strict=True):
        took = _seconds(one.duration_s)
        table.add_row(escape(one.name), took, mark + _seconds(other.duration_s), alone, "")
    table.add_row(
        "until all are done",
        _seconds(shared.makespan_s),
        mark + _seconds(unscheduled.makespan_s),
        "",
        ideal,
    )
    table.add_row("÷ ideal", _ratio(shared), mark + _ratio(unscheduled), "", "1.00")
    table.add_row("turn changes", str(shared.turn_changes), "-", "", "")
    table.add_row("memory moved", _moved(shared), f"{_moved(unscheduled)} so far", "", "")
    return table


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} s"


def _ratio(figures: Figures) -> str:
    return "-" if figures.ratio is None else f"{figures.ratio:,.2f}"


def _moved(figures: Figures) -> str:
    return f"{(figures.swapped_in_bytes + figures.swapped_out_bytes) / 1e9:,.0f} GB"
