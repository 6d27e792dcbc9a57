"""A user has parked the program."""

from nvshare.telemetry.naming import argument_for
from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import duration


def find(case: Case) -> Finding | None:
    """Say for how long, and how to unpark it."""
    client = case.client
    if client.parked != "by hand":
        return None
    return Finding(
        cause="parked",
        # It gets no turn, whatever others do.
        weight=1.5,
        says=f"It was parked by hand {duration(client.parked_seconds)} ago, and gets no turn.",
        helps=f"`nvshare unpark {argument_for(client)}` lets it go on.",
        numbers={"parked_seconds": client.parked_seconds},
    )
