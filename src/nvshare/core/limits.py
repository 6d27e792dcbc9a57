"""What one client may use, as the core has it.

Generated from protocol/limits.toml by ``python -m protocol.generate``: do not edit.
"""

from dataclasses import dataclass
from enum import Enum


class Priority(Enum):
    """Programs of higher priority go first."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may use. None: no limit. The interposer enforces them."""

    memory_bytes: int | None = None
    compute_percent: int | None = None
    burst: bool = False
    priority: Priority = Priority.NORMAL


NO_LIMITS = Limits()
