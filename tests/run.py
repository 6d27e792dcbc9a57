"""``make test``: every test, in two parts that run at the same time where that is permitted.

    python -m tests.run

Tests that are marked `timed` sleep most of the time, and must not be kept waiting when they wake.
So they go ahead of all others (real-time priority), one after the other, and the others use the
rest of the machine. Without permission for that priority, they run afterwards, with nothing beside.
Tests that failed run once more in the end, by themselves (tests/again.py).
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from nvshare.cli.lab.trial.realtime import ahead_of_others
from tests.again import judged, remembering

PYTEST = (sys.executable, "-m", "pytest")
TIMED = (*PYTEST, "--part=timed")
# The failed tests of each part are recorded here.
NOTES = Path(".pytest_cache")
# Folders with long tests come first.
FOLDERS = ("tests/integration", "tests/property", "tests/modelcheck", "tests/replay", "tests/unit")
# Of six tests that run at the same time, some always wait.
SIX = ("-n", "6", "--dist", "loadfile", "--no-loadscope-reorder")
TOGETHER = (*PYTEST, "--part=together", *SIX, *FOLDERS)
# To import all tests compiles them. In a fresh clone each of the six would do that otherwise.
COLLECT = (*PYTEST, "--collect-only", "--quiet")
COMPILE = ((*COLLECT, "tests/unit"), (*COLLECT, "tests", "--ignore=tests/unit"))


def main() -> int:
    """Run both parts, then failed tests alone."""
    notes = [NOTES / "together", NOTES / "timed"]
    together, timed = (remembering(note) for note in notes)
    codes = run([*TOGETHER, *together], [*TIMED, *timed], first=() if is_compiled() else COMPILE)
    return judged(list(zip(codes, notes, strict=True)), run_alone)


def is_compiled() -> bool:
    """Whether these tests have run before, as far as their files tell."""
    return any(Path(__file__).parent.glob("__pycache__/conftest.*-pytest-*.pyc"))


def run(
    together: Sequence[str], timed: Sequence[str], *, first: Sequence[Sequence[str]] = ()
) -> tuple[int, int]:
    """Run two commands, the second ahead of the first or after it. Returns their exit codes.

    The output of the second one is held back until the first has ended. Other commands, all at the
    same time, may come before the first; what they print is not shown.
    """
    with tempfile.TemporaryFile("w+") as said, started_ahead(timed, said) as ahead:
        for before in [subprocess.Popen(one, stdout=subprocess.DEVNULL) for one in first]:
            before.wait()
        code = subprocess.run(together).returncode
        if ahead is None:
            return code, subprocess.run(timed).returncode
        ahead_code = ahead.wait()
        said.seek(0)
        print(said.read(), end="", flush=True)
        return code, ahead_code


def run_alone(tests: Sequence[str]) -> int:
    """Run these tests one after the other, with nothing beside."""
    return subprocess.run([*PYTEST, *tests]).returncode


@contextmanager
def started_ahead(
    command: Sequence[str], said: IO[str]
) -> "Iterator[subprocess.Popen[bytes] | None]":
    """Start a command ahead of everything else, if that is permitted. It ends with us."""
    with ahead_of_others() as is_ahead:
        started = subprocess.Popen(command, stdout=said, stderr=said) if is_ahead else None
    try:
        yield started
    finally:
        if started is not None and started.poll() is None:
            started.terminate()
            started.wait()


if __name__ == "__main__":
    sys.exit(main())
