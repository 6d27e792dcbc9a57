"""A terminal as a page that is overwritten: unchanged lines are not sent again."""

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any

# Switch to the alternate screen without a cursor, and back.
_ENTER = "\x1b[?1049h\x1b[?25l"
_LEAVE = "\x1b[?25h\x1b[?1049l"
# Terminals that know these show everything between them at once; others ignore them.
_BEGIN = "\x1b[?2026h"
_END = "\x1b[?2026l"


class Screen:
    """The terminal, as a context: it is restored at the end."""

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._lines: list[str] = []
        self._size = (0, 0)
        self._settings: list[Any] = []
        self._handler: Any = None

    def __enter__(self) -> "Screen":
        self._settings = termios.tcgetattr(self._input)
        # The terminal is restored after a signal, too.
        self._handler = signal.signal(signal.SIGTERM, _end)
        tty.setcbreak(self._input)
        _write(_ENTER)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The terminal may be gone by now.
        with contextlib.suppress(OSError, termios.error):
            _write(_LEAVE)
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._settings)
        signal.signal(signal.SIGTERM, self._handler)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        return tuple(os.get_terminal_size(sys.stdout.fileno()))  # type: ignore[return-value]

    def show(self, lines: Sequence[str]) -> None:
        """Show these lines."""
        size = self.size
        text = changes([] if size != self._size else self._lines, lines)
        clear = "\x1b[2J" if size != self._size else ""
        self._lines, self._size = list(lines), size
        if text or clear:
            _write(f"{_BEGIN}{clear}{text}{_END}")

    def read(self, seconds: float) -> bytes:
        """Return the bytes that were typed, after at most this time."""
        ready, _, _ = select.select([self._input], [], [], max(0.0, seconds))
        if not ready:
            return b""
        data = os.read(self._input, 1024)
        if not data:
            # The terminal is gone.
            raise SystemExit(1)
        return data


def changes(before: Sequence[str], after: Sequence[str]) -> str:
    """Return the bytes that change a terminal from the old lines to the new ones."""
    sent = []
    for row in range(max(len(before), len(after))):
        old = before[row] if row < len(before) else None
        new = after[row] if row < len(after) else ""
        if old != new:
            # Clear the rest of the line.
            sent.append(f"\x1b[{row + 1};1H{new}\x1b[0m\x1b[K")
    return "".join(sent)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    raise SystemExit(128 + number)
