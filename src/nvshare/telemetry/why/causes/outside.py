"""Outsiders use the GPU."""

from nvshare.telemetry.snapshot import OutsideProcess
from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import gib, percent

# Whether they compute is unknown. They are worth a sentence, but not the main cause.
_UNKNOWN = 0.05


def _name(process: OutsideProcess) -> str:
    # Some processes are unknown, or hidden.
    number = f" (pid {process.pid})" if process.pid > 0 else ""
    return f"{process.program or 'a process'}{number}"


def find(case: Case) -> Finding | None:
    """Name the outsiders and their memory, and say whether that is why programs do not fit."""
    if not case.gpu.outside:
        return None
    names = ", ".join(map(_name, case.gpu.outside))
    cost = case.part("waiting", "memory_in", "memory_out")
    has = f"{names} has {gib(case.outside)} GiB of GPU {case.gpu.index} without nvshare"
    if case.lacks_for_outside:
        says = f"{has}; without that, all programs would fit: {percent(cost)} of the program's "
        says += "time went to turns and moving memory."
    else:
        says = f"{has}, and may compute at any time: nvshare does not schedule it."
    return Finding(
        cause="outside_process",
        weight=cost if case.lacks_for_outside else _UNKNOWN,
        says=says,
        helps="Start it with `nvshare run`, or end it.",
        numbers={"outside": case.outside, "usable": case.gpu.usable, "needs": sum(case.sizes)},
    )
