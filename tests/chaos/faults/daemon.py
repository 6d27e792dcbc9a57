"""Faults of the daemon, and of its sockets and descriptors."""

import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nvshare.errors import NvshareError

from ..excuses import EVERY_GPU, MEMORY
from ..plan import Fault
from ..processes import descriptors
from ..stage import SILENCE, Stage

# Until every program is back, with a new daemon or the old one.
_COMING_BACK = 3.0
# A context is tried for 5 s while no room is made for it (docs/explicit.md).
_REFUSALS = 6.0
# Until all are with a daemon of another version. Other faults may be in the way.
_PATIENCE = 60.0
# How often the daemon looks whether its sockets are there.
_GLANCE = 2.0


def kill(stage: Stage, fault: Fault) -> None:
    """The daemon is killed; the next one comes after a while, and takes a while to start."""
    with without_daemon(stage):
        stage.supervisor.kill(fault.seconds)
        time.sleep(fault.seconds)
        stage.supervisor.wait_until_it_answers()


def end(stage: Stage, fault: Fault) -> None:
    """The daemon is ended as for a new version of it; the next one comes soon."""
    with without_daemon(stage):
        stage.supervisor.kill(fault.seconds, signal.SIGTERM)
        time.sleep(fault.seconds)
        stage.supervisor.wait_until_it_answers()


def upgrade(stage: Stage, fault: Fault) -> None:
    """A daemon of another version takes over, and later one of the present version again.

    In between every program has to connect to it and make progress as ever.
    """
    with without_daemon(stage):
        _take_over(stage, fault.value)
        _until_all_are_known(stage, fault.value)
    time.sleep(fault.seconds)
    with without_daemon(stage):
        _take_over(stage, "")


def _take_over(stage: Stage, version: str) -> None:
    stage.supervisor.version = version
    stage.supervisor.kill(0.0, signal.SIGTERM)
    stage.supervisor.wait_until_it_answers()


def _until_all_are_known(stage: Stage, version: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        with suppress(NvshareError, OSError, ValueError):
            missing = stage.unknown_to(stage.supervisor.control.status())
            if not missing:
                return
            if time.monotonic() > deadline:
                stage.journal.fail(
                    f"not connected to the daemon of an {version} version: {missing}"
                )
        if time.monotonic() > deadline:
            return
        time.sleep(0.1)


def stop(stage: Stage, fault: Fault) -> None:
    """The daemon is stopped, and goes on later. Waiting programs go on without it."""
    with without_daemon(stage):
        stage.supervisor.send(signal.SIGSTOP)
        time.sleep(fault.seconds)
        stage.supervisor.send(signal.SIGCONT)


def reload(stage: Stage, fault: Fault) -> None:
    """The configuration is read again; later changes are forgotten."""
    del fault
    stage.supervisor.reload()


def remove_socket(stage: Stage, fault: Fault) -> None:
    """A socket is removed. New programs find no daemon until it is there again."""
    with stage.excuses.holding(MEMORY, and_then=_GLANCE + _REFUSALS):
        with suppress(FileNotFoundError):
            (stage.supervisor.sockets / fault.value).unlink()
        stage.supervisor.wait_until_it_answers()


def few_descriptors(stage: Stage, fault: Fault) -> None:
    """The daemon can open only a few files more, or none. New programs have to wait."""
    pid = stage.supervisor.pid
    if pid is None or not stage.supervisor.is_up:
        # A daemon that is still starting is left alone: the fault is for one that serves.
        return
    with without_daemon(stage), suppress(ProcessLookupError, FileNotFoundError, PermissionError):
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        highest = max(descriptors(pid), default=1 << 16)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 1 + int(fault.value), hard))
        time.sleep(fault.seconds)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def without_daemon(stage: Stage) -> Iterator[None]:
    """Programs may find no daemon, and no memory because of that."""
    with (
        stage.excuses.holding(MEMORY, and_then=_REFUSALS),
        stage.excuses.holding(EVERY_GPU, and_then=SILENCE + _COMING_BACK),
    ):
        yield
