"""Its own share of compute holds it back."""

from nvshare.telemetry.naming import argument_for
from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.causes.scaled import is_scaled
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import percent


def find(case: Case) -> Finding | None:
    """Say what its share is, and for how long it had to wait for it."""
    client, held_back = case.client, case.part("held_back")
    if not held_back or client.limits.compute_percent is None or is_scaled(case):
        return None
    helps = f"`nvshare limit {argument_for(client)} --compute none` lifts its share"
    if not client.limits.burst:
        helps += "; `--burst` lets it use more while no other program wants the GPU"
    helps += "."
    if "compute_percent" in client.capped:
        helps = "The administrator of the cluster can raise the ceiling (docs/kubernetes.md)."
    return Finding(
        cause="held_back",
        weight=held_back,
        says=f"Its share is {client.limits.compute_percent} % of the GPU's time: it computed "
        f"{percent(case.part('computing'))}, and was held back {percent(held_back)}.",
        helps=helps,
        numbers={
            "set": client.limits.compute_percent,
            "share": client.share,
            "computing": case.part("computing"),
            "held_back": held_back,
        },
    )
