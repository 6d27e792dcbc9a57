"""A program in a terminal of a certain size, and the visible text there."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence

_CODE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")


class Terminal:
    """Enough of a terminal for programs that write lines to places."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], size: tuple[int, int]
    ) -> None:
        self.columns, self.rows = size
        self.lines = [""] * self.rows
        self.bytes = 0
        self.is_other_page = False
        self._row = 0
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], list(command), dict(environment))  # noqa: S606
        self.resize(*size)

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.lines = [""] * rows
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def until(self, is_so: Callable[[str], bool], seconds: float = 30.0) -> str:
        """Read until the text is visible."""
        deadline = time.monotonic() + seconds
        while not is_so(self.text):
            assert time.monotonic() < deadline, self.text
            self._read(0.1)
        return self.text

    def end(self) -> int:
        """Read until the program has ended; return its exit code."""
        while self._read(30.0):
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)

    def local_flags(self) -> int:
        """The terminal's settings for typed input."""
        return int(termios.tcgetattr(self._master)[3])

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:
            # Linux reports in this way that the other side is closed.
            return False
        self.bytes += len(data)
        self._show(data.decode(errors="replace"))
        return bool(data)

    def _show(self, text: str) -> None:
        place = 0
        for code in _CODE.finditer(text):
            self._write(text[place : code.start()])
            self._obey(code.group(1), code.group(2))
            place = code.end()
        self._write(text[place:])

    def _write(self, text: str) -> None:
        for line in text.replace("\r", "").splitlines(keepends=True):
            if self._row < self.rows:
                self.lines[self._row] += line.rstrip("\n")
            self._row += line.endswith("\n")

    def _obey(self, numbers: str, letter: str) -> None:
        if letter == "H":
            self._row = int(numbers.split(";")[0] or 1) - 1
            if self._row < self.rows:
                self.lines[self._row] = ""
        elif letter == "J":
            # Clear all of it, or from here on.
            row = 0 if numbers == "2" else min(self._row, self.rows)
            self.lines[row:] = [""] * (self.rows - row)
        elif numbers == "?1049":
            self.is_other_page = letter == "h"
            self.lines, self._row = [""] * self.rows, 0
