"""Which GPUs are healthy. Facts from NVML go in, changes come out; no NVML, no clock here.

A GPU is unhealthy while NVML calls it lost or cannot query it, and after a fatal XID until it is
repaired: until NVML says that it needs no reset or, where a driver does not report that, until it
was lost and has come back, or has been quiet for a while.
"""

from dataclasses import dataclass, field

# XIDs that are a program's own fault: the GPU stays healthy.
_OF_PROGRAMS = {13, 31, 43, 45, 68, 109}


@dataclass(frozen=True, slots=True)
class Look:
    """What NVML reports of one GPU at one moment.

    ``trouble`` is why it cannot be queried, empty if it can. ``needs_reset`` is None where the
    driver does not report it.
    """

    trouble: str = ""
    needs_reset: bool | None = None


@dataclass(slots=True)
class _Condition:
    trouble: str = ""
    xid: int = 0
    since: float = 0.0

    @property
    def problem(self) -> str:
        if self.trouble:
            return self.trouble
        return f"XID {self.xid}" if self.xid else ""


@dataclass(slots=True)
class Health:
    """The condition of every GPU, by UUID. ``quiet`` is how many seconds without XID are enough."""

    quiet: float = 300.0
    _conditions: dict[str, _Condition] = field(default_factory=dict)

    def problem(self, uuid: str) -> str:
        """Why a GPU is unhealthy; empty: it is healthy."""
        return self._conditions.setdefault(uuid, _Condition()).problem

    def is_lost(self, uuid: str) -> bool:
        """Whether a GPU cannot even be queried."""
        return bool(self._conditions.setdefault(uuid, _Condition()).trouble)

    def take_xid(self, uuid: str, xid: int, now: float) -> None:
        """Take in an XID."""
        if xid not in _OF_PROGRAMS:
            condition = self._conditions.setdefault(uuid, _Condition())
            condition.xid, condition.since = xid, now

    def take_look(self, uuid: str, look: Look, now: float) -> None:
        """Take in the facts of one query."""
        condition = self._conditions.setdefault(uuid, _Condition())
        has_come_back = bool(condition.trouble) and not look.trouble
        condition.trouble = look.trouble
        if look.trouble or not condition.xid:
            return
        if look.needs_reset is not None:
            is_mended = not look.needs_reset
        else:
            is_mended = has_come_back or now - condition.since >= self.quiet
        if is_mended:
            condition.xid = 0
