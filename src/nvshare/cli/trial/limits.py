"""The limits of a program on a stage, as variables of its environment. Starts nothing."""

import secrets
from collections.abc import Mapping

from nvshare.core.settings import Limits, Priority
from nvshare.wire import environment


def with_limits(limits: Limits, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program that has these limits, and with nobody together."""
    own = {**environ, environment.GROUP: secrets.token_hex(16)}
    if limits.compute_percent is not None:
        own[environment.GPU_CORE_LIMIT] = str(limits.compute_percent)
    if limits.burst:
        own[environment.GPU_BURST] = "1"
    if limits.priority is not Priority.NORMAL:
        own[environment.GPU_PRIORITY] = limits.priority.value
    return own
