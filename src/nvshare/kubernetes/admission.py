"""Which container holds which device, and which pod kubelet is serving.

Kubelet tells a plugin which devices a container is to get, not which container. The plugin knows
the pods of this node (from the API server) and the containers that hold devices (PodResources):
the container that is being served asks for that many devices, and holds none.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from nvshare.kubernetes.annotations import Reading
from nvshare.kubernetes.placement import Card, Holding, gpu_of
from nvshare.kubernetes.pods import Pod


@dataclass(frozen=True, slots=True)
class Grip:
    """A container that holds a virtual device, according to kubelet."""

    namespace: str
    pod: str
    container: str
    device: str


@dataclass(frozen=True, slots=True)
class Tenant:
    """A pod of this node, with what it asks for."""

    pod: Pod
    reading: Reading

    def promise(self, container: str) -> int | None:
        """The most memory that programs of a container may use; None: all that a GPU has."""
        return dict(self.reading.in_force)[container].memory_limit


def holdings(
    cards: Iterable[Card], grips: Iterable[Grip], tenants: Iterable[Tenant]
) -> list[Holding]:
    """Return which pod holds which device. Old kubelets list ended pods, which hold nothing."""
    memory = {card.uuid: card.memory for card in cards}
    known = {(tenant.pod.namespace, tenant.pod.name): tenant for tenant in tenants}
    found = []
    for grip in grips:
        tenant = known.get((grip.namespace, grip.pod))
        if tenant is not None and tenant.pod.is_over:
            continue
        uuid = gpu_of(grip.device)
        limit = tenant.promise(grip.container) if tenant is not None else None
        promised = memory.get(uuid, 0) if limit is None else limit
        found.append(Holding(f"{grip.namespace}/{grip.pod}", uuid, promised))
    return found


@dataclass(frozen=True, slots=True)
class Promise:
    """How much memory of each GPU a container is promised; None: all of it."""

    size: int | None


def least_promise(
    tenants: Iterable[Tenant], grips: Collection[Grip], resource: str, size: int
) -> Promise | None:
    """Return what the container that is being served is promised; None: no container waits.

    If several waiting containers ask for that many devices, it is the least of their promises: to
    admit one pod too many is better than to refuse one by mistake.
    """
    promises = list(_waiting(tenants, grips, resource, size))
    if not promises:
        return None
    limited = [promise for promise in promises if promise is not None]
    return Promise(min(limited, default=None))


def _waiting(
    tenants: Iterable[Tenant], grips: Collection[Grip], resource: str, size: int
) -> Iterator[int | None]:
    served = {(grip.namespace, grip.pod, grip.container) for grip in grips}
    for tenant in tenants:
        pod = tenant.pod
        if pod.is_over:
            continue
        for container in pod.containers:
            name = (pod.namespace, pod.name, container.name)
            if container.asks(resource) == size and name not in served:
                yield tenant.promise(container.name)
