"""Results as tables for a terminal: one in detail, or several beside each other."""

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from nvshare.cli.output import Column, Rows
from nvshare.lab.sim.figures import Figures
from nvshare.lab.sim.report import Client, Summary

# More programs than this are not listed individually.
MOST_ROWS = 60


def draw(summaries: Sequence[Summary]) -> RenderableType:
    """Draw one result in full; of several, only the totals."""
    if len(summaries) == 1:
        return Group(draw_clients(summaries[0].clients), draw_totals(summaries))
    return draw_totals(summaries)


def draw_figures(figures: Figures) -> RenderableType:
    """Draw one result of a simulation or a trial."""
    if isinstance(figures, Summary):
        return draw([figures])
    clients = Rows("program", "GPU", "took", "it/s")
    for client in figures.clients:
        took = f"{client.duration_s:.1f} s"
        clients.add_row(
            escape(client.name), str(client.gpu), took, f"{client.iterations_per_s:.2f}"
        )
    totals = Rows("", escape(figures.scenario))
    for name, show in _FIGURES.items():
        totals.add_row(name, show(figures))
    for name, value in figures.more.items():
        totals.add_row(name, str(value))
    return Group(clients, totals)


def draw_clients(clients: Sequence[Client]) -> RenderableType:
    """Draw the programs."""
    table = Rows(
        *("program", "GPU", "took", Column("it/s", rank=2), Column("waited", rank=1)),
        *(Column("longest", rank=3), Column("turns", rank=4), Column("moved", rank=5)),
    )
    for client in clients[:MOST_ROWS]:
        table.add_row(
            escape(client.name),
            str(client.gpu),
            f"{client.duration_s:.1f} s" + ("" if client.ended else " …"),
            f"{client.iterations_per_s:.2f}",
            f"{client.waited_s:.1f} s",
            f"{client.longest_wait_s:.1f} s",
            str(client.turns),
            _gigabytes(client.moved_bytes),
        )
    if len(clients) <= MOST_ROWS:
        return table
    return Group(table, Text(f"and {len(clients) - MOST_ROWS} more programs"))


def draw_totals(summaries: Sequence[Summary]) -> Rows:
    """Draw the sums."""
    table = Rows("", *(escape(summary.scenario) for summary in summaries))
    for name, show in _TOTALS.items():
        table.add_row(name, *(show(summary) for summary in summaries))
    return table


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size else "-"


_FIGURES: dict[str, Callable[[Figures], str]] = {
    "took": lambda figures: _seconds(figures.makespan_s),
    "ideal": lambda figures: _seconds(figures.ideal_s),
    "took ÷ ideal": lambda figures: _ratio(figures.ratio),
    "a program, mean": lambda figures: _seconds(figures.mean_s),
    "the longest alone": lambda figures: _seconds(figures.baseline_s),
    "turn changes": lambda figures: str(figures.turn_changes),
    "short turns": lambda figures: str(figures.slices),
    "moved out": lambda figures: _gigabytes(figures.swapped_out_bytes),
    "moved in": lambda figures: _gigabytes(figures.swapped_in_bytes),
    "time with moves": lambda figures: _seconds(figures.swap_s),
}

_TOTALS: dict[str, Callable[[Summary], str]] = {
    **_FIGURES,
    "longest wait": lambda s: _seconds(max(client.longest_wait_s for client in s.clients)),
    "GPUs busy": lambda summary: f"{100 * summary.utilisation:.0f} %",
}
