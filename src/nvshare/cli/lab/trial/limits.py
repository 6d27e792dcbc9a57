"""The limits of a program on a stage, as variables of its environment. Starts nothing."""

import secrets
from collections.abc import Mapping

from nvshare.core.settings import Limits
from nvshare.launch.preload import limit_variables
from nvshare.limits.table import LIMITS
from nvshare.limits.values import LimitValues
from nvshare.wire import environment


def own_group() -> str:
    """Return a unique name for a group."""
    return secrets.token_hex(16)


def with_limits(limits: Limits, environ: Mapping[str, str], group: str = "") -> dict[str, str]:
    """Return the environment of a program that has these limits, with its group or alone."""
    own = {**environ, environment.GROUP: group or own_group()}
    values = {one.name: one.from_core(getattr(limits, one.core_name)) for one in LIMITS}
    return {**own, **limit_variables(LimitValues(**values))}
