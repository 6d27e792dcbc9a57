"""One GPU in two lines: its holders and waiting programs, and its memory as a bar."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from nvshare.cli.board.glyphs import Glyphs, split_cells
from nvshare.telemetry.naming import distinct_names, short_name
from nvshare.telemetry.snapshot import ClientStatus, DeviceStatus
from nvshare.telemetry.words import duration, gib

_LONGEST_BAR = 40
_SHORTEST_BAR = 10
# More names would make the line harder to read.
_NAMES = 2
_SPAN = 10


def draw_gpu(
    gpu: DeviceStatus, clients: Sequence[ClientStatus], width: int, glyphs: Glyphs
) -> list[Text]:
    """Draw a GPU with the programs on it."""
    return [_head(gpu, clients, width), _memory(gpu, clients, width, glyphs)]


def used_percent(clients: Sequence[ClientStatus]) -> float:
    """Return the part of the last seconds in which programs had work on a GPU, at most 100 %."""
    return min(100.0, sum(one.used_percent.get(_SPAN, 0.0) for one in clients))


def _head(gpu: DeviceStatus, clients: Sequence[ClientStatus], width: int) -> Text:
    """Draw the facts that fit, the most important first."""
    is_bad = gpu.lost_seconds is not None or gpu.thrashing is not None
    state = [f"GPU {gpu.index}", f"{used_percent(clients):.0f} % busy"]
    if gpu.lost_seconds is not None:
        state[1] = f"lost {duration(gpu.lost_seconds)} ago"
    elif gpu.thrashing is not None:
        # It is busy with pages: how busy its programs are says nothing.
        state[1] = f"thrashing for {duration(gpu.thrashing.seconds)}"
    parts = [*state, *_turn(gpu, clients), *_waiting(clients)]
    extra = [gpu.name, f"mode {gpu.settings.mode}", _turn_length(gpu)]
    while extra and cell_len("  ".join([*parts, *extra])) > width:
        extra.pop()
    words = "  ".join([parts[0], *extra, *parts[1:]])
    return Text(words, style="red" if is_bad else "bold", overflow="fold")


def _turn(gpu: DeviceStatus, clients: Sequence[ClientStatus]) -> list[str]:
    holders = [one for one in clients if one.state in ("running", "yielding")]
    if not holders:
        return []
    left = "" if gpu.turn_ends_in is None else f", {gpu.turn_ends_in:.0f} s left"
    return [f"turn: {_names(holders, clients)}{left}"]


def _waiting(clients: Sequence[ClientStatus]) -> list[str]:
    waiting = [one for one in clients if one.state == "waiting"]
    return [f"waiting: {_names(waiting, clients)}"] if waiting else []


def _names(clients: Sequence[ClientStatus], among: Sequence[ClientStatus]) -> str:
    return ", ".join(distinct_names(clients, among, _NAMES, short_name))


def _turn_length(gpu: DeviceStatus) -> str:
    length = gpu.settings.turn_seconds
    return "turn auto" if length == "auto" else f"turn {length:g} s"


def _memory(gpu: DeviceStatus, clients: Sequence[ClientStatus], width: int, glyphs: Glyphs) -> Text:
    """Draw the memory on the GPU, the free memory, and after them the memory that is away."""
    away = sum(one.swapped_out for one in clients)
    outside = sum(one.memory for one in gpu.outside)
    there = max(0, gpu.allocated - away)
    free = max(0, gpu.usable - there)
    words = f" {gib(there)} on GPU, {gib(free)} free, {gib(away)} away of {gib(gpu.usable)} GiB"
    words += f", {gib(outside)} outside" if outside else ""
    cells = min(_LONGEST_BAR, width - len("  []") - cell_len(words))
    if cells < _SHORTEST_BAR:
        return Text(f" {words}", overflow="fold")
    full, spare, gone = split_cells([min(there, gpu.usable), free, away], cells)
    return Text.assemble(
        "  [",
        (glyphs.full * full, "green"),
        (glyphs.free * spare, "dim"),
        (glyphs.away * gone, "yellow"),
        "]",
        words,
        overflow="fold",
    )
