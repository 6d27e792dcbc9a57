"""Nothing holds the program up."""

from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import percent

# A program that computes for this part of the time is as fast as the GPU.
_ENOUGH = 0.9
# Anything that has cost more than this is the cause all the same.
_LITTLE = 0.1


def find(case: Case) -> Finding | None:
    """Say that it has all that there is; or that there is nothing to say yet."""
    computing, others = case.part("computing"), len(case.others)
    if not case.client.recent.seconds:
        return Finding("new", 0.0, "There are no measurements of it yet.")
    where = f"with {others} more on the GPU" if others else "alone on the GPU"
    if case.client.thrashes:
        return None
    return Finding(
        cause="fine",
        weight=_LITTLE if computing >= _ENOUGH else 0.0,
        says=f"It computed {percent(computing)} of the time, {where}: nothing holds it up."
        if computing >= _ENOUGH
        else "No other program is in its way.",
        numbers={"computing": computing, "others": others},
    )
