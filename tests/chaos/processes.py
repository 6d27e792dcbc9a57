"""Processes as the kernel handles and reports them."""

import shutil
import signal
from pathlib import Path


def ending_with_us() -> tuple[str, ...]:
    """Return the prefix of a command that the kernel kills when we are gone.

    The command has to be started by our first thread.
    """
    found = shutil.which("setpriv")
    return (found, "--pdeathsig", "KILL") if found else ()


def handles(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal that would end it otherwise."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False
    caught = [line.split()[1] for line in text.splitlines() if line.startswith("SigCgt:")]
    return any(int(mask, 16) >> (number - 1) & 1 for mask in caught)


def descriptors(pid: int) -> dict[int, str]:
    """The open files of a process, by descriptor."""
    found = {}
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[int(path.name)] = str(path.readlink())
        except OSError:
            continue
    return found


def processor_delay(pid: int) -> float:
    """For how many seconds threads of a process were runnable but did not run, so far."""
    total = 0
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text(encoding="utf-8").split()[1])
    except (OSError, IndexError, ValueError):
        pass
    return total / 1e9
