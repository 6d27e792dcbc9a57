"""The table of programs: what each column shows, and which columns are left out first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import JustifyMethod
from rich.table import Table

from nvshare.cli.board.columns import Column, make_table
from nvshare.cli.board.glyphs import Glyphs, curve
from nvshare.cli.limit_words import further_limits
from nvshare.cli.status_table import allocation
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus
from nvshare.telemetry.why.case import part_of
from nvshare.telemetry.words import duration, gib, percent

CURVE = 10
_SPAN = 10
_STYLES = {
    "running": "green",
    "waiting": "yellow",
    "yielding": "magenta",
    "idle": "dim",
    "thrashing": "red",
}


@dataclass(frozen=True, slots=True)
class Place:
    """What a cell may need besides its program."""

    index: dict[str, int]
    glyphs: Glyphs


@dataclass(frozen=True, slots=True)
class _Field:
    column: Column
    cell: Callable[[ClientStatus, Place], str]


def used(client: ClientStatus) -> float:
    """Return the part of the last seconds in which a program had work on the GPU, in percent."""
    return client.used_percent.get(_SPAN, 0.0)


def spans(client: ClientStatus) -> str:
    """The same over 1, 10 and 60 seconds."""
    return " ".join(f"{value:.0f}" for value in client.used_percent.values()) + " %"


def waited(client: ClientStatus) -> float:
    """Return the part of its last minute for which a program waited for a turn."""
    return part_of(client, "waiting")


def held_back(client: ClientStatus) -> float:
    """Return the part of its last minute for which its share held a program back."""
    return part_of(client, "held_back")


def state(client: ClientStatus) -> str:
    """The state of a program. A mark means that it was told to give way and has not yet."""
    if client.parked and client.state in ("idle", "waiting"):
        return "parked"
    shown = "thrashing" if client.thrashes else client.state
    return f"{shown}!" if client.overdue or client.cannot_drain else shown


def limit(client: ClientStatus) -> str:
    """Memory, compute and priority, abbreviated. A mark means that it is over its limit."""
    limits = client.limits
    words = []
    if limits.memory_limit is not None:
        mark = "!" if client.group_used > limits.memory_limit else ""
        words.append(f"{gib(limits.memory_limit)}G{mark}")
    if limits.compute_percent is not None:
        words.append(f"{limits.compute_percent}%")
        if client.share is not None and client.share < limits.compute_percent:
            words[-1] += f"({client.share:.0f})"
    words += [limits.priority] if limits.priority else []
    return " ".join([*words, *further_limits(limits)]) or "-"


def _style(client: ClientStatus) -> str:
    return _STYLES["thrashing" if client.thrashes else client.state]


_RIGHT: JustifyMethod = "right"
FIELDS: tuple[_Field, ...] = (
    _Field(Column("GPU"), lambda one, place: str(place.index.get(one.device, "?"))),
    _Field(Column("id", 0, _RIGHT), lambda one, _: str(one.id)),
    _Field(Column("pid", 0, _RIGHT), lambda one, _: str(one.pid)),
    _Field(Column("user", 3), lambda one, _: one.user),
    _Field(Column("program"), lambda one, _: ": ".join(filter(None, (one.pod_name, one.program)))),
    _Field(Column("state"), lambda one, _: state(one)),
    _Field(Column("for", 6, _RIGHT), lambda one, _: duration(one.state_seconds)),
    _Field(Column("GPU %", 0, _RIGHT), lambda one, _: f"{used(one):.0f}"),
    _Field(
        Column(f"last {CURVE} s", 5),
        lambda one, place: curve(one.recent.computing_percent, CURVE, place.glyphs),
    ),
    _Field(Column("memory", 0, _RIGHT), lambda one, _: f"{gib(one.allocated)}G"),
    _Field(Column("away", 1, _RIGHT), lambda one, _: f"{gib(one.swapped_out)}G"),
    _Field(Column("limit", 4), lambda one, _: limit(one)),
    _Field(Column("wait", 2, _RIGHT), lambda one, _: percent(waited(one))),
    _Field(Column("held back", 6, _RIGHT), lambda one, _: percent(held_back(one))),
    _Field(Column("1, 10, 60 s", 9, _RIGHT), lambda one, _: spans(one)),
    _Field(Column("turns", 8, _RIGHT), lambda one, _: str(one.turns)),
    _Field(Column("waited", 7, _RIGHT), lambda one, _: duration(one.waited_seconds)),
    _Field(Column("moved", 8, _RIGHT), lambda one, _: f"{gib(one.moved_out + one.moved_in)} GiB"),
    _Field(Column("allocation", 11), lambda one, _: allocation(one)),
)


def draw_programs(
    status: NodeStatus,
    clients: Sequence[ClientStatus],
    width: int,
    glyphs: Glyphs,
    selected: int | None = None,
) -> Table:
    """Draw programs in this order, with the selected one highlighted."""
    place = Place({gpu.uuid: gpu.index for gpu in status.devices}, glyphs)
    # The GPU column is useful only if there are several GPUs.
    fields = FIELDS if len(status.devices) != 1 else FIELDS[1:]
    rows = [[field.cell(one, place) for field in fields] for one in clients]
    styles = [("reverse " if one.id == selected else "") + _style(one) for one in clients]
    return make_table([field.column for field in fields], rows, width, styles)
