"""Ceilings: the most that programs in pods may have, whatever their pods and environments request.

The operator of a cluster sets them, for a node and for namespaces. Tenants write annotations, and
the environment of their programs. Values only: which pod is in which namespace is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from nvshare.limits.fields import CeilingFields
from nvshare.limits.table import LIMITS
from nvshare.setting_types import NONE, AllocationName
from nvshare.settings import ClientLimits, Orders


class Ceiling(CeilingFields):
    """Most that the programs of a container may have. None: they may have as much as they like."""

    # The allocation kinds that they may choose, beside that of the GPU's setting.
    allocation: Annotated[tuple[AllocationName, ...] | None, NONE] = None

    def over(self, other: "Ceiling") -> "Ceiling":
        """Return another ceiling overridden by this one; "none" lifts a limit of the other."""
        said = {name: getattr(self, name) for name in self.model_fields_set}
        return other.model_copy(update=said)

    def cut(self, limits: ClientLimits) -> ClientLimits:
        """Return limits cut by this ceiling. No limit at all is beyond every ceiling."""
        return limits.changed(
            {one.name: one.cut(getattr(limits, one.name), self) for one in LIMITS}
        )

    def cuts(self, orders: Orders) -> dict[str, str]:
        """Return in words which of these orders exceed it, and what is in force instead."""
        asked = ClientLimits().changed(orders.model_dump(exclude={"allocation"}))
        limits = self.cut(asked)
        found = {}
        for one in LIMITS:
            wanted, given = getattr(asked, one.name), getattr(limits, one.name)
            if wanted is not None and wanted != given:
                found[one.name] = one.text(given)
        if orders.allocation is not None and not self.allows(orders.allocation):
            found["allocation"] = "the GPU's setting"
        return found

    def allows(self, allocation: AllocationName) -> bool:
        """Whether programs may choose this allocation kind."""
        return self.allocation is None or allocation in self.allocation

    def laxer(self, other: "Ceiling") -> "Ceiling":
        """Return the ceiling that allows what this one or the other allows."""
        ways = None if None in (self.allocation, other.allocation) else (self, other)
        return Ceiling(
            **{
                one.name: one.laxest(getattr(self, one.name), getattr(other, one.name))
                for one in LIMITS
            },
            allocation=ways and tuple(way for one in ways for way in one.allocation or ()),
        )


NO_CEILING = Ceiling()


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The ceiling of a node, and the exceptions for some namespaces."""

    node: Ceiling = NO_CEILING
    namespaces: Mapping[str, Ceiling] = field(default_factory=dict)

    def of(self, namespace: str) -> Ceiling:
        """Return the ceiling for the pods of a namespace."""
        special = self.namespaces.get(namespace)
        return special.over(self.node) if special else self.node

    def of_unknown(self) -> Ceiling:
        """Return the ceiling for a pod that is not known yet: the most that any pod may have.

        For a moment after a start of the daemon that is every pod. A pod that may have much must
        not be refused memory then, and one that may have less is cut as soon as it is known.
        """
        laxest = self.node
        for namespace in self.namespaces:
            laxest = laxest.laxer(self.of(namespace))
        return laxest
