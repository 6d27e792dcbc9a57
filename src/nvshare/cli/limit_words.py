"""Limits that the tables do not format themselves, in the words of the log."""

from nvshare.limits.table import LIMITS
from nvshare.settings import ClientLimits

_SHOWN = {"memory_limit", "compute_percent", "burst", "priority"}


def further_limits(limits: ClientLimits) -> list[str]:
    """Return a word for each such limit that is in force."""
    others = (one for one in LIMITS if one.name not in _SHOWN)
    return [word for one in others if (word := one.in_log(getattr(limits, one.name)))]
