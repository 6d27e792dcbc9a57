"""The details of one program: how its time was spent, and why."""

from rich.console import RenderableType
from rich.text import Text

from nvshare.cli.board.glyphs import Glyphs
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus, TimeParts
from nvshare.telemetry.why import explain
from nvshare.telemetry.words import duration, percent

NAMES = {
    "computing": "computing",
    "waiting": "waiting",
    "held_back": "held back",
    "memory_in": "memory in",
    "memory_out": "memory out",
    "thrashing": "thrashing",
    "idle": "idle",
}
_BAR = 30


def draw_details(
    status: NodeStatus, client: ClientStatus, width: int, glyphs: Glyphs
) -> list[RenderableType]:
    """Draw the parts of its time, for the last minute and since it connected, with reasons."""
    lately, ever = client.recent.attribution, client.attribution
    bar = max(0, min(_BAR, width - 40))
    whole = duration(client.connected_seconds)
    head = f"{'':10} {'last minute':>11}  {'':{bar}}  of {whole}"
    lines: list[RenderableType] = [Text(""), Text(head, style="dim")]
    for name, words in NAMES.items():
        part = _part(lately, name)
        drawn = (glyphs.full * round(part * bar)).ljust(bar)
        lines.append(Text(f"{words:10} {percent(part):>11}  {drawn}  {percent(_part(ever, name))}"))
    return [*lines, Text(" ".join(explain(status, client.id).sentences()), overflow="fold")]


def _part(parts: TimeParts, name: str) -> float:
    total = parts.total
    return float(getattr(parts, name)) / total if total else 0.0
