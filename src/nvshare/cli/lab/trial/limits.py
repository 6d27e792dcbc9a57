"""The limits of a program on a stage, as variables of its environment. Starts nothing."""

import secrets
from collections.abc import Mapping

from nvshare.core.settings import Limits, Priority
from nvshare.wire import environment


def own_group() -> str:
    """Return the name of a group that nobody else has."""
    return secrets.token_hex(16)


def with_limits(limits: Limits, environ: Mapping[str, str], group: str = "") -> dict[str, str]:
    """Return the environment of a program that has these limits, with its group or alone."""
    own = {**environ, environment.GROUP: group or own_group()}
    if limits.compute_percent is not None:
        own[environment.GPU_CORE_LIMIT] = str(limits.compute_percent)
    if limits.burst:
        own[environment.GPU_BURST] = "1"
    if limits.priority is not Priority.NORMAL:
        own[environment.GPU_PRIORITY] = limits.priority.value
    return own
