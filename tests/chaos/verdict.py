"""How a program has ended, judged by its exit codes and its output."""

import signal
from collections.abc import Sequence
from enum import Enum

# Messages of nvshare and the emulator are not the program's own.
_NOT_ITS_OWN = ("nvshare[", "nvshare emulator:")


class Verdict(Enum):
    """How it ended."""

    FINISHED = "has finished"
    KILLED = "was killed as planned"
    REFUSED = "was refused memory for a known reason"
    WRONG = "ended in an unexpected way"


def own_words(text: str) -> list[str]:
    """Return the lines that the program itself has written."""
    return [line for line in text.splitlines() if not line.startswith(_NOT_ITS_OWN)]


def judge(
    codes: Sequence[int], said: Sequence[str], *, is_killed: bool, memory_is_short: bool
) -> Verdict:
    """Judge the processes of a program by their exit codes and their own output.

    Where one of a gang was killed or refused, the others are killed too.
    """
    if said:
        is_out = all("OUT_OF_MEMORY" in line for line in said)
        is_refused = is_out and memory_is_short and set(codes) <= {0, 1, -signal.SIGKILL}
        return Verdict.REFUSED if is_refused else Verdict.WRONG
    if not any(codes):
        return Verdict.FINISHED
    is_as_planned = is_killed and set(codes) <= {0, -signal.SIGKILL}
    return Verdict.KILLED if is_as_planned else Verdict.WRONG
