"""The faults of a plan, done to a stage. Each runs in a thread of its own, and puts things right.

Each says which GPU may be idle because of it, and for how long afterwards.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .excuses import EVERY_GPU, MEMORY
from .plan import Fault
from .stage import REVOKE_PATIENCE, SILENCE, Stage

Do = Callable[[Stage, Fault], None]

# Until everybody is back, with a new daemon or the old one.
_COMING_BACK = 3.0
# A context is tried for 5 s where nobody makes room for it (docs/explicit.md).
_REFUSALS = 6.0


def kill_program(stage: Stage, fault: Fault) -> None:
    """A program is killed. If it had a turn, that is over when the kernel has cleared it away."""
    program = stage.program(fault.target)
    with stage.excuses.holding(*program.role.gpus, and_then=1.0):
        program.kill()


def stop_program(stage: Stage, fault: Fault) -> None:
    """A program is stopped, and goes on later. Others wait for it, but not without an end."""
    program = stage.program(fault.target)
    with stage.excuses.holding(*program.role.gpus, and_then=REVOKE_PATIENCE):
        program.send(signal.SIGSTOP)
        time.sleep(fault.seconds)
        program.send(signal.SIGCONT)


def kill_daemon(stage: Stage, fault: Fault) -> None:
    """The daemon is killed; the next one comes after a while, and takes a while to start."""
    with _without_daemon(stage):
        stage.supervisor.kill(fault.seconds)
        time.sleep(fault.seconds)
        _until_it_answers(stage)


def stop_daemon(stage: Stage, fault: Fault) -> None:
    """The daemon is stopped, and goes on later. Whoever waits goes on without it."""
    with _without_daemon(stage):
        stage.supervisor.send(signal.SIGSTOP)
        time.sleep(fault.seconds)
        stage.supervisor.send(signal.SIGCONT)


@contextmanager
def _without_daemon(stage: Stage) -> Iterator[None]:
    with (
        stage.excuses.holding(MEMORY, and_then=_REFUSALS),
        stage.excuses.holding(EVERY_GPU, and_then=SILENCE + _COMING_BACK),
    ):
        yield


def _until_it_answers(stage: Stage) -> None:
    deadline = time.monotonic() + 60
    while not stage.supervisor.is_answering():
        if time.monotonic() > deadline:
            stage.journal.fail("the daemon does not answer a minute after it was killed")
            return
        time.sleep(0.1)


FAULTS: dict[str, Do] = {
    "kill-program": kill_program,
    "stop-program": stop_program,
    "kill-daemon": kill_daemon,
    "stop-daemon": stop_daemon,
}
