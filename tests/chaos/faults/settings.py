"""Changes that people may make while programs run. They are legal, and must do no harm."""

import time
from collections.abc import Callable
from typing import Any

from nvshare.cli.set import parse_changes
from nvshare.errors import BadInputError, NvshareError
from nvshare.settings import DeviceSettings

from ..excuses import EVERY_GPU, MEMORY
from ..plan import Fault
from ..programs import Program
from ..stage import Stage

_PATIENCE = 60.0


def change_setting(stage: Stage, fault: Fault) -> None:
    """A setting of a GPU is changed for a while."""
    wanted = parse_changes([fault.value])
    gpu = fault.target % 2
    change = stage.supervisor.control.change_devices
    usual = DeviceSettings().changed(stage.config["gpu"]).model_dump()
    before = {name: usual[name] for name in wanted}
    with stage.excuses.holding(gpu, and_then=0.0):
        if _tell(lambda: change(str(gpu), wanted)):
            time.sleep(fault.seconds)
        _insist(stage, lambda: change(str(gpu), before))


def little_host_memory(stage: Stage, fault: Fault) -> None:
    """The host may keep little of the memory that leaves the GPUs, for a while."""
    change = stage.supervisor.control.change_node
    with stage.excuses.holding(MEMORY, EVERY_GPU, and_then=3.0):
        if _tell(lambda: change({"host_memory": fault.value})):
            time.sleep(fault.seconds)
        _insist(stage, lambda: change({"host_memory": stage.config["host_memory"]}))


def limit_memory(stage: Stage, fault: Fault) -> None:
    """A program may have only so much memory, for a while; it may have more already."""
    with stage.excuses.holding(MEMORY, and_then=1.0):
        _limit(stage, fault, "memory_limit", fault.value)


def limit_compute(stage: Stage, fault: Fault) -> None:
    """A program may have only so much of the GPU's time, for a while."""
    with stage.excuses.holding(*stage.program(fault.target).role.gpus, and_then=1.0):
        _limit(stage, fault, "compute_percent", int(fault.value))


def change_priority(stage: Stage, fault: Fault) -> None:
    """A program goes before all others, or after them, for a while."""
    _limit(stage, fault, "priority", fault.value)


def park(stage: Stage, fault: Fault) -> None:
    """A program is taken off its GPUs, and put back."""
    program, control = stage.program(fault.target), stage.supervisor.control
    pids = program.pids
    if not pids:
        return
    with stage.excuses.holding(*program.role.gpus, and_then=1.0):
        who = str(pids[0])

        def unpark() -> None:
            # A daemon that was started meanwhile does not know that it was parked.
            if control.group(who).parked:
                control.unpark(who)

        if _tell(lambda: control.park(who)):
            time.sleep(fault.seconds)
        _insist(stage, unpark, _is_there(program, pids[0]))


def _limit(stage: Stage, fault: Fault, name: str, value: Any) -> None:
    program, change = stage.program(fault.target), stage.supervisor.control.change_limits
    pids = program.pids
    if not pids:
        return
    who = str(pids[0])
    if _tell(lambda: change(who, {name: value})):
        time.sleep(fault.seconds)
    _insist(stage, lambda: change(who, {name: None}), _is_there(program, pids[0]))


def _is_there(program: Program, pid: int) -> Callable[[], bool]:
    return lambda: pid in program.pids


def _tell(change: Callable[[], object]) -> bool:
    """Change something, if there is a daemon that knows the program in question."""
    try:
        change()
    except (NvshareError, OSError):
        return False
    return True


def _insist(
    stage: Stage, change: Callable[[], object], is_needed: Callable[[], bool] = lambda: True
) -> None:
    """Undo a change, as soon as there is a daemon to ask."""
    deadline = time.monotonic() + _PATIENCE
    while is_needed():
        try:
            change()
        except BadInputError:
            # It does not know the program (yet).
            pass
        except (NvshareError, OSError):
            pass
        else:
            return
        if time.monotonic() > deadline:
            stage.journal.fail("the daemon did not accept the change that restores a setting")
            return
        time.sleep(0.2)
