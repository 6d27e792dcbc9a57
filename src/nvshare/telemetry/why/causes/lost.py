"""The GPU is lost."""

from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import duration


def find(case: Case) -> Finding | None:
    """Say since when nothing runs on the GPU."""
    seconds = case.gpu.lost_seconds
    if seconds is None:
        return None
    because = f" ({case.gpu.lost_because})" if case.gpu.lost_because else ""
    return Finding(
        cause="lost_gpu",
        # More than any other cause.
        weight=2.0,
        says=f"GPU {case.gpu.index} was lost {duration(seconds)} ago{because}: nothing runs on it.",
        helps="Its programs go on when the GPU is back; until then, start it on another GPU with "
        "`nvshare run --gpu N`.",
        numbers={"lost_seconds": seconds, "lost_because": case.gpu.lost_because},
    )
