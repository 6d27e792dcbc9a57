"""A snapshot and the user's choices, as the lines of a screen. Does not talk to the daemon."""

from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from nvshare.cli.board.board import head
from nvshare.cli.board.details import draw_details
from nvshare.cli.board.glyphs import ASCII, UNICODE
from nvshare.cli.board.programs import draw_programs
from nvshare.cli.top.state import State
from nvshare.limits.table import LIMITS
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus

# The table of programs always gets this many rows.
_LEAST_ROWS = 3
KEYS = "  ".join(
    [
        "arrows select  enter details  s sort  r reverse  / filter",
        *(f"{one.key} {one.option}" for one in LIMITS if one.key),
        "q quit",
    ]
)
_SHORT = "h keys  q quit"


def frame(status: NodeStatus, state: State, paper: Console) -> list[str]:
    """Draw as many lines as the paper has."""
    glyphs = ASCII if paper.options.ascii_only else UNICODE
    shown = state.shown(status)
    above = _lines(paper, *head(status, paper.width, glyphs))
    footer = _footer(state, shown, paper)
    most = paper.height - len(above) - len(footer) - 1 - _LEAST_ROWS
    below = [*_details(status, state, shown, paper)[: max(0, most)], *footer]
    room = max(_LEAST_ROWS, paper.height - len(below) - 1)
    above = above[: max(0, room - _LEAST_ROWS)]
    rows = room - len(above)
    visible = window(shown, state.selected, rows - 1)
    if visible:
        table = draw_programs(status, visible, paper.width, glyphs, state.selected)
        middle = _lines(paper, table)[:rows]
    else:
        middle = [
            "No program is connected." if not state.filter else "No program passes the filter."
        ]
    middle += [""] * (rows - len(middle))
    return [*above, "", *middle, *below][: paper.height]


def window(
    clients: Sequence[ClientStatus], selected: int | None, rows: int
) -> Sequence[ClientStatus]:
    """Return as many programs as fit, the selected one among them."""
    numbers = [one.id for one in clients]
    place = numbers.index(selected) if selected in numbers else 0
    first = max(0, min(place - rows // 2, len(clients) - rows))
    return clients[first : first + rows]


def _details(
    status: NodeStatus, state: State, shown: Sequence[ClientStatus], paper: Console
) -> list[str]:
    chosen = [one for one in shown if one.id == state.selected]
    if not state.shows_details or not chosen:
        return []
    glyphs = ASCII if paper.options.ascii_only else UNICODE
    return _lines(paper, *draw_details(status, chosen[0], paper.width, glyphs))


def _footer(state: State, shown: Sequence[ClientStatus], paper: Console) -> list[str]:
    if state.prompt is not None:
        text = Text(f"{state.prompt.question}: {state.prompt.text}_", style="bold")
        return _lines(paper, text)[-1:]
    if state.message:
        return _lines(paper, Text(state.message, style="bold"))[:2]
    if state.shows_help:
        return _lines(paper, Text(KEYS, style="dim"))
    order = f"by {state.sort}{', reversed' if state.is_reversed else ''}"
    only = f"  only: {state.filter}" if state.filter else ""
    return _lines(paper, Text(f"{len(shown)} programs {order}{only}  {_SHORT}", style="dim"))[:1]


def _lines(paper: Console, *what: RenderableType) -> list[str]:
    with paper.capture() as captured:
        for one in what:
            paper.print(one)
    return captured.get().splitlines()
