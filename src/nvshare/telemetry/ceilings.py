"""Ceilings: most that the programs in pods may have, whatever their pods and environments ask for.

Whoever runs a cluster sets them, for a node and for namespaces. Tenants write annotations, and the
environment of their programs. Values only: who is in which namespace is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator

from nvshare.settings import (
    AllocationName,
    ClientLimits,
    Orders,
    Percent,
    PriorityName,
    SettingsModel,
    SomeBytes,
)

_FROM_LOW_TO_HIGH = ("low", "normal", "high")


def _none(value: Any) -> Any:
    """TOML has no word for nothing."""
    return None if value == "none" else value


_None = BeforeValidator(_none)


class Ceiling(SettingsModel):
    """Most that the programs of a container may have. None: they may have as much as they like."""

    memory_limit: Annotated[SomeBytes | None, _None] = None
    compute_percent: Annotated[Percent | None, _None] = None
    # Whether they may have more compute than that while nobody else wants it.
    burst: bool = False
    priority: Annotated[PriorityName | None, _None] = None
    # The ways of allocating that they may choose; beside them there is that of the GPU's setting.
    allocation: Annotated[tuple[AllocationName, ...] | None, _None] = None

    def over(self, other: "Ceiling") -> "Ceiling":
        """Return another one with all that this one says; "none" lifts what the other says."""
        said = {name: getattr(self, name) for name in self.model_fields_set}
        return other.model_copy(update=said)

    def cut(self, limits: ClientLimits) -> ClientLimits:
        """Return limits that are not beyond this. No limit at all is beyond every ceiling."""
        changes: dict[str, Any] = {
            "memory_limit": _least(limits.memory_limit, self.memory_limit),
            "compute_percent": _least(limits.compute_percent, self.compute_percent),
        }
        if self.compute_percent is not None and not self.burst:
            changes["burst"] = None
        if self.priority is not None and _rank(limits.priority) > _rank(self.priority):
            changes["priority"] = self.priority
        return limits.changed(changes)

    def cuts(self, orders: Orders) -> dict[str, str]:
        """Return which of these orders are beyond it, and what is in force instead, in words."""
        asked = ClientLimits().changed(orders.model_dump(exclude={"allocation"}))
        limits = self.cut(asked)
        found = {
            name: str(getattr(limits, name))
            for name in ("memory_limit", "compute_percent", "priority")
            if getattr(asked, name) is not None and getattr(asked, name) != getattr(limits, name)
        }
        if orders.allocation is not None and not self.allows(orders.allocation):
            found["allocation"] = "what the GPU's setting says"
        return found

    def allows(self, allocation: AllocationName) -> bool:
        """Whether programs may choose to allocate in this way."""
        return self.allocation is None or allocation in self.allocation

    def laxer(self, other: "Ceiling") -> "Ceiling":
        """Return what is allowed by this one or by the other."""
        ranks = None if None in (self.priority, other.priority) else (self, other)
        ways = None if None in (self.allocation, other.allocation) else (self, other)
        return Ceiling(
            memory_limit=_most(self.memory_limit, other.memory_limit),
            compute_percent=_most(self.compute_percent, other.compute_percent),
            burst=self.burst or other.burst,
            priority=ranks and max((one.priority for one in ranks), key=_rank),
            allocation=ways and tuple(way for one in ways for way in one.allocation or ()),
        )


NO_CEILING = Ceiling()


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The ceiling of a node, and what is said otherwise for some namespaces."""

    node: Ceiling = NO_CEILING
    namespaces: Mapping[str, Ceiling] = field(default_factory=dict)

    def of(self, namespace: str) -> Ceiling:
        """Return what holds for the pods of a namespace."""
        special = self.namespaces.get(namespace)
        return special.over(self.node) if special else self.node

    def of_unknown(self) -> Ceiling:
        """Return what holds for a pod that has not been heard of yet: what some pod may have.

        For a moment after a start of the daemon that is every pod. One that may have much must not
        be refused memory then, and one that may have less is cut as soon as it is known.
        """
        laxest = self.node
        for namespace in self.namespaces:
            laxest = laxest.laxer(self.of(namespace))
        return laxest


def _least(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)


def _most(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def _rank(priority: PriorityName | None) -> int:
    return _FROM_LOW_TO_HIGH.index(priority or "normal")
