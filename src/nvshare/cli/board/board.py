"""The whole board, drawn from a snapshot in the width of the terminal."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from nvshare.cli.board.glyphs import ASCII, UNICODE, Glyphs
from nvshare.cli.board.gpus import draw_gpu
from nvshare.cli.board.programs import draw_programs
from nvshare.cli.status_table import host, notes, remarks
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus
from nvshare.telemetry.words import duration


class Board:
    """What `nvshare status` prints."""

    def __init__(self, status: NodeStatus) -> None:
        self._status = status

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        glyphs = ASCII if options.ascii_only else UNICODE
        yield from head(self._status, options.max_width, glyphs)
        clients = by_gpu(self._status)
        if clients:
            yield Text("")
            yield draw_programs(self._status, clients, options.max_width, glyphs)
        else:
            yield Text("No program is connected.")
        for note in (*remarks(self._status), *notes(self._status)):
            yield Text(note)


def head(status: NodeStatus, width: int, glyphs: Glyphs) -> list[RenderableType]:
    """Draw the lines above the table of programs."""
    about = f"nvshare {status.version}, daemon {status.pid}, up {duration(status.uptime_seconds)}"
    lines: list[RenderableType] = [Text(about), Text(host(status.host))]
    for gpu in status.devices:
        mine = [one for one in status.clients if one.device == gpu.uuid]
        lines += draw_gpu(gpu, mine, width, glyphs)
    return lines


def by_gpu(status: NodeStatus) -> Sequence[ClientStatus]:
    """Return all programs, sorted by GPU and then by arrival."""
    index = {gpu.uuid: gpu.index for gpu in status.devices}
    return sorted(status.clients, key=lambda one: (index.get(one.device, -1), one.id))
