"""The faults of a plan, done to a stage. Each runs in a thread of its own, and undoes itself.

Each declares its permitted effects, and for how long afterwards (excuses.py). No fault permits a
wrong byte, an error that no fault explains, or a program that does not go on.
"""

from collections.abc import Callable

from ..plan import Fault
from ..stage import Stage, has_mounts
from . import daemon, gpus, machine, programs, settings

Do = Callable[[Stage, Fault], None]

FAULTS: dict[str, Do] = {
    "kill-program": programs.kill,
    "stop-program": programs.stop,
    "interrupt-program": programs.interrupt,
    "park-program": settings.park,
    "limit-memory": settings.limit_memory,
    "limit-compute": settings.limit_compute,
    "change-priority": settings.change_priority,
    "kill-daemon": daemon.kill,
    "stop-daemon": daemon.stop,
    "end-daemon": daemon.end,
    "upgrade-daemon": daemon.upgrade,
    "reload-daemon": daemon.reload,
    "remove-socket": daemon.remove_socket,
    "few-descriptors": daemon.few_descriptors,
    "little-host-memory": settings.little_host_memory,
    "small-cgroup": machine.small_cgroup,
    "small-program-cgroup": machine.small_program_cgroup,
    "exhausted-host": machine.exhausted_host,
    "full-disk": machine.full_disk,
    "full-shm": machine.full_shm,
    "lose-gpu": gpus.lose,
    "unsupported-gpu": gpus.unsupported,
    "steal-memory": gpus.steal,
    "change-setting": settings.change_setting,
}


def possible(stage: Stage) -> list[str]:
    """Return the kinds that are possible here."""
    missing = set() if has_mounts() else machine.NEED_MOUNTS
    if stage.supervisor.cgroup is None:
        missing = missing | machine.NEED_CGROUPS
    return [kind for kind in FAULTS if kind not in missing]
