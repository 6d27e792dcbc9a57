"""A program with every sort of explicit memory, and its connection to the daemon.

The program is native/tests/lodger.c.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from nvshare.wire.frames import Grant, Memory, Moved, Released, Revoke, RevokeFlags, Urgency, Want

from .scripted import Link, Scripted

KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
ALL = 1 << 40
Told = TypeVar("Told", Moved, Released)


class Lodger:
    """A lodger that has its memory, and holds turn 1."""

    def __init__(self, process: "subprocess.Popen[str]", scripted: Scripted) -> None:
        self.process = process
        self.link: Link = scripted.accept()
        self.link.welcome()
        self.turn = 0
        self.grant()
        self.says("ready")

    def says(self, what: str) -> None:
        """Wait for its next line, which has to be this."""
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said == what + "\n", self.process.communicate(timeout=10)

    def told(self, kind: type[Told]) -> Told:
        """The next frame of a kind; others are skipped."""
        while not isinstance(frame := self.link.next(Moved | Released | Memory | Want), kind):
            continue
        return frame

    def grant(self) -> None:
        """Give it the next turn."""
        self.turn += 1
        self.link.send(Grant(self.turn, 0, 0))

    def order_out(self) -> None:
        """Revoke its turn, and move all of its memory out."""
        self.link.send(Revoke(self.turn, Urgency.NOW, 10_000, ALL, RevokeFlags(0)))

    def move_out(self) -> Moved:
        """The same, and wait until it reports that it has done all it could."""
        self.order_out()
        self.told(Released)
        while (moved := self.told(Moved)).left:
            continue
        return moved

    def ask(self) -> None:
        """Have it check its memory, which it cannot before it has a turn."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def look(self) -> None:
        """Give it a turn, in which it has to find its memory unchanged."""
        self.ask()
        self.grant()
        self.says("right")

    def end(self) -> str:
        """Let it free everything and end; return its standard error."""
        said, errors = self.process.communicate(timeout=20)
        assert (self.process.returncode, said) == (0, ""), errors
        return errors


@contextmanager
def lodging(
    program: Path, scripted: Scripted, environment: Mapping[str, str], *options: str
) -> Iterator[Lodger]:
    """A lodger, which is gone at the end."""
    process = subprocess.Popen(
        [program, KERNELS, *options],
        env={**environment, "NVSHARE_ALLOCATION": "explicit"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Lodger(process, scripted)
    finally:
        process.kill()
        process.communicate()


def left_by(lodger: Lodger, leaks: Path) -> dict[str, int]:
    """The leftovers of an ended lodger, and how many of its calls were made to fail."""
    left: dict[str, int] = json.loads(leaks.read_text())
    assert left.pop("pid") == lodger.process.pid
    leaks.unlink()
    return left
