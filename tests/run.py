"""``make test``: every test, in two parts that run at the same time where that is permitted.

    python -m tests.run

Tests that are marked `timed` sleep most of the time, and must not be kept waiting when they wake.
So they go ahead of all others (real-time priority), one after the other, and the others fill what
is left of the machine. Who may not have that priority runs them afterwards, with nothing beside.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from nvshare.cli.trial.quiet import ahead_of_others

PYTEST = (sys.executable, "-m", "pytest")
TIMED = (*PYTEST, "--part=timed")
# Of four that run at a time some always wait. Files that take long come first, or one of them would
# be waited for in the end.
TOGETHER = (
    *(*PYTEST, "--part=together", "-n", "4", "--dist", "loadfile", "--no-loadscope-reorder"),
    *("tests/integration", "tests/unit/sim", "tests/property", "tests/model", "tests/replay"),
    "tests/unit",
)


def run(together: Sequence[str], timed: Sequence[str]) -> int:
    """Run two commands, the second ahead of the first or after it. Returns 1 if either fails.

    What the second one prints is held back until the first has ended.
    """
    with tempfile.TemporaryFile("w+") as said, started_ahead(timed, said) as ahead:
        failed = subprocess.run(together).returncode
        if ahead is None:
            return int(bool(subprocess.run(timed).returncode or failed))
        failed |= ahead.wait()
        said.seek(0)
        print(said.read(), end="", flush=True)
        return int(bool(failed))


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
    sys.exit(run(TOGETHER, TIMED))
