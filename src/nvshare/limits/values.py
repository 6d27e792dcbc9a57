"""Limits whose values have been checked elsewhere. Imports nothing that takes long.

Generated from protocol/limits.toml by ``python -m protocol.generate``: do not edit.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LimitValues:
    """None: no limit."""

    memory_limit: int | None = None
    compute_percent: int | None = None
    burst: bool | None = None
    priority: str | None = None
