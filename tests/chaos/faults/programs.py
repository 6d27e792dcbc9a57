"""Faults of programs: killed, stopped, interrupted."""

import signal
import time

from ..plan import Fault
from ..processes import handles
from ..stage import REVOKE_PATIENCE, Stage

_BETWEEN_SIGNALS = 0.003


def kill(stage: Stage, fault: Fault) -> None:
    """A program is killed. If it had a turn, the turn ends when the kernel has cleaned up."""
    program = stage.program(fault.target)
    with stage.excuses.holding(*program.role.gpus, and_then=1.0):
        program.kill(only_one=fault.value == "one")


def stop(stage: Stage, fault: Fault) -> None:
    """A program is stopped, and goes on later. Others wait for it, but not for ever."""
    program = stage.program(fault.target)
    with stage.excuses.holding(*program.role.gpus, and_then=REVOKE_PATIENCE):
        program.send(signal.SIGSTOP, only_one=fault.value == "one")
        time.sleep(fault.seconds)
        program.send(signal.SIGCONT)


def interrupt(stage: Stage, fault: Fault) -> None:
    """Signals interrupt system calls (EINTR), hundreds of times a second."""
    program = stage.program(fault.target)
    until = time.monotonic() + fault.seconds
    while time.monotonic() < until:
        if all(handles(pid, signal.SIGUSR1) for pid in program.pids):
            program.send(signal.SIGUSR1)
        time.sleep(_BETWEEN_SIGNALS)
