"""It waits behind the turns of others."""

from nvshare.telemetry.naming import argument_for
from nvshare.telemetry.why.case import Case, names_of, part_of
from nvshare.telemetry.why.causes.scaled import is_scaled
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import gib, percent


def find(case: Case) -> Finding | None:
    """Say behind which programs, for how much longer, and why they do not run together."""
    cost = case.part("waiting")
    if not cost or case.client.held_up or case.client.parked == "by hand":
        return None
    if case.lacks_for_outside or (is_scaled(case) and case.lacks <= 0):
        return None
    return Finding(
        cause="waiting",
        weight=cost,
        says=f"It waited {percent(cost)} of the time{_behind(case)}{_reason(case)}.{_now(case)}",
        helps=_helps(case),
        numbers={
            "waiting": cost,
            "turn_ends_in": case.gpu.turn_ends_in,
            "needs": sum(case.sizes),
            "usable": case.gpu.usable,
            "rivals": len(case.rivals),
        },
    )


def _behind(case: Case) -> str:
    if not case.rivals:
        return ""
    used = ", ".join(percent(part_of(one, "computing")) for one in case.rivals[:3])
    return f" for {names_of(case, case.rivals)}, which computed {used}"


def _reason(case: Case) -> str:
    if not case.rivals and not case.holders:
        return ": the programs that it waited for have ended, or are idle"
    if case.lacks > 0 and case.part("memory_in", "memory_out"):
        # The sentence about moving says how much that is.
        return ": they take turns, because they do not fit together"
    if case.lacks > 0:
        return f": {case.sizes_in_words}, so they take turns"
    if case.gpu.settings.mode == "serial":
        return ": the GPU is set to one program at a time (mode serial)"
    return ": they fit together, and take short turns because all compute all the time"


def _now(case: Case) -> str:
    if case.client.state != "waiting" or not case.holders:
        return ""
    left = case.gpu.turn_ends_in
    more = "" if left is None else f" for {left:.0f} s more"
    verb = "has" if len(case.holders) == 1 else "have"
    return f" {names_of(case, case.holders)} {verb} the GPU{more}."


def _helps(case: Case) -> str:
    words = []
    if case.client.limits.priority != "high" and case.rivals:
        words.append(
            f"`nvshare limit {argument_for(case.client)} --priority high` lets it go first"
        )
    if case.lacks > 0:
        words.append(f"with {gib(case.lacks)} GiB less, all programs would fit and run together")
    text = "; ".join(words)
    return f"{text[0].upper() if text[0] != '`' else '`'}{text[1:]}." if text else ""
