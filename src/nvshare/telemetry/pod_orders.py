"""The orders for the programs in a pod, as a value that a watcher makes and the daemon keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nvshare.settings import NO_ORDERS, Orders


@dataclass(frozen=True, slots=True)
class ContainerOrders:
    """The orders for one container, the pod's orders included."""

    name: str = ""
    orders: Orders = NO_ORDERS


@dataclass(frozen=True, slots=True)
class PodOrders:
    """The orders for one pod. ``containers`` are known by their ids once they run."""

    namespace: str
    name: str
    orders: Orders = NO_ORDERS
    containers: Mapping[str, ContainerOrders] = field(default_factory=dict)

    def of(self, container: str) -> ContainerOrders:
        """Return the orders for a container; until it is known, those of the pod."""
        return self.containers.get(container) or ContainerOrders(orders=self.orders)
