"""The GPU waits for the program, which is busy with something else."""

from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import duration, percent

# Less than this is not regular work, but bursts with rests in between.
_LEAST_ACTIVE = 0.5
# Time that no other program has taken counts half as much as time that others have taken.
HALF = 0.5


def is_active(case: Case) -> bool:
    """Whether the program has used the GPU regularly, however little."""
    recent = case.client.recent
    if not recent.launches:
        return False
    seconds = [percent > 0 for percent in recent.computing_percent]
    if not any(seconds):
        # Too little to show in percent: judge by the number of launches.
        return recent.launches >= recent.seconds
    return sum(seconds) >= _LEAST_ACTIVE * len(seconds)


def find(case: Case) -> Finding | None:
    """Say how much it has launched, and how little that was for the GPU."""
    recent, idle = case.client.recent, case.part("idle")
    if not idle or not is_active(case) or case.client.thrashes:
        return None
    return Finding(
        cause="cpu_bound",
        weight=HALF * idle,
        says=f"The GPU waited for the program {percent(idle)} of the time: {recent.launches} calls "
        f"in {duration(recent.seconds)} gave it work for {percent(case.part('computing'))}.",
        helps="Larger batches, or more processes that load data, give the GPU more to do; no "
        "other program is in its way.",
        numbers={"idle": idle, "launches": recent.launches, "computing": case.part("computing")},
    )
