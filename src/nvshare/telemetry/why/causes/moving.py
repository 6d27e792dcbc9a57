"""Programs do not fit together, and their memory goes in and out."""

from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import gib, percent


def find(case: Case) -> Finding | None:
    """Say how much has moved, and how long that took."""
    cost, recent = case.part("memory_in", "memory_out"), case.client.recent
    if not cost or case.lacks_for_outside:
        return None
    why = f"{case.sizes_in_words}: " if case.lacks > 0 else ""
    moved = f"{gib(recent.moved_in)} GiB in, {gib(recent.moved_out)} GiB out"
    return Finding(
        cause="moving",
        weight=cost,
        says=f"{why}{percent(cost)} of its time went to moving memory ({moved}).",
        helps=_helps(case),
        numbers={
            "moving": cost,
            "moved_in": recent.moved_in,
            "moved_out": recent.moved_out,
            "needs": sum(case.sizes),
            "usable": case.gpu.usable,
        },
    )


def _helps(case: Case) -> str:
    if case.lacks <= 0 and not case.rivals:
        # Its rivals are gone: nothing is left to fix.
        return ""
    # If it waits as well, the finding about waiting says this.
    says_less = case.lacks > 0 and not case.part("waiting")
    less = f"; with {gib(case.lacks)} GiB less, all programs would fit" if says_less else ""
    return f"Longer turns (`nvshare set turn=SECONDS`) move memory less often{less}."
