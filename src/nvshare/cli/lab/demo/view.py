"""The progress display: bars on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from nvshare.cli.lab.demo.stages import Stages
from nvshare.cli.lab.trial.trial import Part, Trial

_DRAW_S = 0.2
_TELL_S = 5.0
_WIDTH = 24


@contextmanager
def watched(console: Console, stages: Stages) -> Iterator[Callable[[], None]]:
    """Yield a function to call often; it shows the progress of all jobs when that is due."""
    if not console.is_terminal:
        # Lines in a log are not wrapped.
        yield _now_and_then(_TELL_S, lambda: console.print(told(stages), soft_wrap=True))
        console.print(told(stages), soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False) as live:
        yield _now_and_then(_DRAW_S, lambda: live.update(drawn(stages), refresh=True))
        live.update(drawn(stages), refresh=True)


def _now_and_then(every: float, do: Callable[[], None]) -> Callable[[], None]:
    last = time.monotonic()

    def look() -> None:
        nonlocal last
        if time.monotonic() - last >= every:
            last = time.monotonic()
            do()

    return look


def drawn(stages: Stages) -> RenderableType:
    """Draw a row for each job, with and without nvshare side by side."""
    now = max(trial.now if trial.ended is None else trial.ended for trial in stages.all)
    table = Table("job of 12 GB", "with nvshare", "without", title=f"after {max(0.0, now):.0f} s")
    for one, other in zip(stages.shared.parts, stages.unscheduled.parts, strict=True):
        table.add_row(f"{one.coming.name} on GPU {one.gpu}", _bar(one), _bar(other))
    table.add_section()
    table.add_row("one that has a GPU to itself", "", _bar(stages.alone.parts[0]))
    return table


def _bar(part: Part) -> RenderableType:
    done = _done(part)
    row = Table.grid(padding=(0, 1))
    row.add_row(ProgressBar(total=1.0, completed=done, width=_WIDTH), f"{100 * done:5.1f} %")
    return row


def told(stages: Stages) -> str:
    """Return a line with the progress of all jobs."""
    return (
        f"{max(0.0, stages.shared.now):5.0f} s: alone {_listed(stages.alone)}; "
        f"with nvshare {_listed(stages.shared)}; without {_listed(stages.unscheduled)}"
    )


def _listed(trial: Trial) -> str:
    return ", ".join(f"{100 * _done(part):.1f} %" for part in trial.parts)


def _done(part: Part) -> float:
    return part.progress.done if part.progress else 0.0
