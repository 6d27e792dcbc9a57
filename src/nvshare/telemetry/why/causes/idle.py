"""The program has nothing for the GPU to do."""

from nvshare.telemetry.naming import argument_for
from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.causes.cpu_bound import HALF, is_active
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import gib, percent


def find(case: Case) -> Finding | None:
    """Say for how long, and what it keeps meanwhile."""
    client, idle = case.client, case.part("idle")
    # What it did before it was seen to thrash counts as idle.
    if not idle or is_active(case) or case.client.thrashes:
        return None
    on_gpu = client.allocated - client.swapped_out
    helps = ""
    if on_gpu:
        command = f"`nvshare park {argument_for(client)}`"
        helps = f"{command} frees its {gib(on_gpu)} GiB of the GPU meanwhile."
    return Finding(
        cause="idle",
        weight=HALF * idle,
        says=f"It gave the GPU nothing to do for {percent(idle)} of the time "
        f"({client.recent.launches} calls), and no other program was in its way.",
        helps=helps,
        numbers={"idle": idle, "launches": client.recent.launches, "on_gpu": on_gpu},
    )
