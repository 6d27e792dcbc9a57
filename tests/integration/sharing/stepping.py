"""A thread of another process, from place to place, as native/tests/kill_while_stepping.c has them.

A place is where something outside of the process may have changed. It is identified by the call
that the thread has returned from, and how often it has been there. Moves differ in how often a
thread waits, so a count of places since the beginning would mean another place each time.
"""

import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

LIBRARY = "libnvshare.so"


@dataclass(frozen=True)
class Place:
    """A place that the thread has reached, and how often it has been there."""

    where: str
    times: int


class Stepper:
    """Steps threads while something happens."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def step(
        self, process: int, thread: int, happen: Callable[[], None], *options: str | Path
    ) -> tuple[list[Place], bool]:
        """Return the places that the thread has reached, and whether it was killed at the last.

        The options decide that. Otherwise it goes on by itself when ``happen`` has returned.
        """
        command = [str(word) for word in (self._program, process, thread, LIBRARY, *options)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stepper:
            assert stepper.stdout is not None
            try:
                assert stepper.stdout.readline() == "ready\n"
                happen()
            finally:
                stepper.terminate()
            lines = stepper.stdout.read().splitlines()
        is_killed = lines[-1:] == ["killed"]
        pairs = (line.split() for line in (lines[:-1] if is_killed else lines))
        return [Place(where, int(times)) for where, times in pairs], is_killed


def traced(trace: Path) -> tuple[str | Path, ...]:
    """Write the registers at each instruction to a file."""
    return "-t", trace


def killed_at(place: Place) -> tuple[str | Path, ...]:
    """Kill the process there."""
    return "-k", place.where, str(place.times)


def killed_anywhere_but(known: Iterable[Place], file: Path) -> tuple[str | Path, ...]:
    """Kill the process at the first unknown place. The known ones are written to a file."""
    file.write_text("".join(f"{place.where} {place.times}\n" for place in known))
    return "-n", file
