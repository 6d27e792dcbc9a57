"""Programs that run at the same time do not fit, and page against each other."""

from nvshare.telemetry.thrashing import help_thrashing, say_thrashing
from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding, Number
from nvshare.telemetry.words import percent

# If it goes on, nothing else matters to its programs.
_NOW = 1.0


def find(case: Case) -> Finding | None:
    """Say who pages against whom, now or in the last minute."""
    cost, found = case.part("thrashing"), case.gpu.thrashing
    if found is None and not cost:
        return None
    numbers: dict[str, Number] = {"thrashing": cost}
    if found is None:
        says = f"It stood still {percent(cost)} of the time, paging against other programs."
        return Finding("thrashing", cost, f"{says} That is over.", numbers=numbers)
    clients = (case.client, *case.others)
    if not case.client.thrashes:
        # They have the GPU that it waits for.
        cost = max(cost, case.part("waiting"))
    return Finding(
        cause="thrashing",
        weight=_NOW if case.client.thrashes else cost,
        says=say_thrashing(case.gpu, clients),
        helps=help_thrashing(case.gpu, clients),
        numbers={
            **numbers,
            "seconds": found.seconds,
            "programs": len(found.programs),
            "memory": found.memory,
            "room": found.room,
        },
    )
