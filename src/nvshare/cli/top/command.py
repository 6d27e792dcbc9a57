"""The verb: asks the daemon once a second, and acts on keys."""

import contextlib
import io
import sys
import time

import click
from rich.console import Console

from nvshare.cli.control import Daemon
from nvshare.cli.top.frame import frame
from nvshare.cli.top.keys import keys
from nvshare.cli.top.screen import Screen
from nvshare.cli.top.state import Change, State
from nvshare.errors import BadInputError, NvshareError
from nvshare.telemetry.snapshot import NodeStatus


@click.command()
@click.option(
    "--interval",
    type=click.FloatRange(0.2, 60),
    default=1.0,
    metavar="SECONDS",
    show_default=True,
    help="Seconds between two updates.",
)
def top(interval: float) -> None:
    """Watch GPUs and programs, and change limits. h shows the keys, q ends it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInputError(
            "nvshare top needs a terminal",
            why="its input or output is a file or a pipe",
            do="use `nvshare status`, with --watch or --json",
        )
    daemon = Daemon()
    first = daemon.status()
    # Control-C is as good as q.
    with contextlib.suppress(KeyboardInterrupt):
        _Top(daemon, first, interval).run()


class _Top:
    """The loop: read a snapshot, draw it, act on keys."""

    def __init__(self, daemon: Daemon, status: NodeStatus, interval: float) -> None:
        self._daemon = daemon
        self._status = status
        self._interval = interval
        self._state = State()

    def run(self) -> None:
        """Run until the user quits; a daemon that goes away is an error."""
        with Screen() as screen:
            due = time.monotonic() + self._interval
            while not self._state.is_over:
                screen.show(frame(self._status, self._state, _paper(*screen.size)))
                self._press(screen.read(due - time.monotonic()))
                if time.monotonic() >= due:
                    due = time.monotonic() + self._interval
                    self._status = self._daemon.status()

    def _press(self, data: bytes) -> None:
        for key in keys(data):
            change = self._state.press(key, self._state.shown(self._status))
            if change is not None:
                self._state.message = self._change(change)
                self._status = self._daemon.status()

    def _change(self, change: Change) -> str:
        """Change limits; return a message for the user."""
        try:
            group = self._daemon.change_limits(str(change.pid), change.changes)
        except BadInputError as error:
            return ": ".join(filter(None, (error.what, error.why)))
        except NvshareError as error:
            return f"nothing was changed: {error.what}"
        loss = ", lost when the daemon restarts: it could not be stored" if group.unstored else ""
        return f"{group.name}: {group.limits.in_words() or 'no limits'}{loss}"


def _paper(width: int, height: int) -> Console:
    """Return a console like the terminal's whose output is captured instead of shown."""
    encoding = sys.stdout.encoding or "utf-8"
    page = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace")
    return Console(file=page, width=width, height=height, force_terminal=True, highlight=False)
