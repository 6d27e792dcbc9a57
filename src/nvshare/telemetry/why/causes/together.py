"""Others compute on the GPU at the same time."""

from nvshare.telemetry.naming import argument_for
from nvshare.telemetry.why.case import Case, names_of, part_of
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import percent

# Programs that take turns add up to the whole time; anything beyond it is at the same time.
_LEAST_BEYOND = 0.1


def find(case: Case) -> Finding | None:
    """Name the programs that it shares the GPU with, by how much they compute at the same time."""
    own = case.part("computing")
    beyond = own + sum(part_of(one, "computing") for one in case.rivals) - 1
    if beyond < _LEAST_BEYOND or own <= 0 or case.client.thrashes:
        return None
    command = f"`nvshare limit {argument_for(case.rivals[0])} --compute 50`"
    return Finding(
        cause="together",
        # Of concurrent work, each program gets its part.
        weight=min(own, beyond) * (1 - 1 / (1 + len(case.rivals))),
        says=f"It had work on the GPU {percent(own)} of the time, and "
        f"{names_of(case, case.rivals)} as well: for {percent(min(own, beyond))} of the time "
        "they shared it at the same time.",
        helps=f"A share for the others ({command}) leaves more of the GPU to it.",
        numbers={"computing": own, "at_the_same_time": beyond, "rivals": len(case.rivals)},
    )
