"""Its effective share of compute is less than was set, because the shares add up to too much."""

from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import percent

# A smaller difference is rounding.
_LEAST = 0.5


def is_scaled(case: Case) -> bool:
    """Whether its share is less than it was set to."""
    client = case.client
    set_to = client.limits.compute_percent
    return client.share is not None and set_to is not None and client.share < set_to - _LEAST


def find(case: Case) -> Finding | None:
    """Say what the shares add up to, and what is left of its own."""
    client = case.client
    if not is_scaled(case) or client.share is None:
        return None
    set_to = client.limits.compute_percent or 0
    total = 100 * set_to / client.share if client.share else 0.0
    held_back, waiting = case.part("held_back"), case.part("waiting")
    return Finding(
        cause="shares_scaled",
        # Where all programs fit, it waits because short turns enforce the shares.
        weight=held_back + (waiting if case.lacks <= 0 else 0.0),
        says=f"The shares of the programs that compute on GPU {case.gpu.index} add up to "
        f"{total:.0f} %, so its {set_to} % become {client.share:.0f} %: it was held back "
        f"{percent(held_back)} of the time, and waited {percent(waiting)} for the others.",
        helps="Lower shares of the others give it more (`nvshare limit`).",
        numbers={
            "set": set_to,
            "share": client.share,
            "total": total,
            "held_back": held_back,
            "waiting": waiting,
        },
    )
