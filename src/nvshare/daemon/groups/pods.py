"""The limits that the pods of a cluster request for their programs, from whatever source."""

from collections.abc import Callable

from nvshare.daemon.tenants.identity import Identity
from nvshare.settings import ClientLimits
from nvshare.telemetry.ceilings import NO_CEILING, Ceiling, Ceilings
from nvshare.telemetry.pod_orders import ContainerOrders, PodOrders

_NOTHING = ContainerOrders()


class Pods:
    """The orders of every pod that has been heard of, by its uid.

    The cgroup of a program names its pod's uid. That of a pod which kubelet has read from a file
    (a static pod) names a hash that the API server does not know as a uid. Its annotations contain
    the hash, but a user who may annotate a pod can write another pod's hash there. So such a pod is
    found by its containers' ids, which come from its status: only kubelet writes that.
    """

    def __init__(self) -> None:
        self._pods: dict[str, PodOrders] = {}
        self._homes: dict[str, str] = {}
        # The most that pods may have, whatever they request.
        self.ceilings = Ceilings()
        self._listeners: list[Callable[[str, str, str], None]] = []
        # How often the orders have changed, for caches of values that follow from them.
        self.changes = 0

    def set(self, uid: str, orders: PodOrders | None) -> None:
        """Note the orders of a pod; None: the pod is gone."""
        self.changes += 1
        before = self._pods.pop(uid, None)
        for container in before.containers if before else ():
            if self._homes.get(container) == uid:
                del self._homes[container]
        if orders is not None:
            self._pods[uid] = orders
            self._homes.update(dict.fromkeys(orders.containers, uid))

    def on_notice(self, listener: Callable[[str, str, str], None]) -> None:
        """Add a listener for events of pods; it is called with uid, kind and text."""
        self._listeners.append(listener)

    def notify(self, who: Identity, kind: str, text: str) -> None:
        """Tell the listeners about an event of a program's pod."""
        if uid := self.uid(who):
            for listener in self._listeners:
                listener(uid, kind, f"{who.program}: {text}")

    def uid(self, who: Identity) -> str:
        """The uid of a program's pod, if it is known."""
        return who.pod if who.pod in self._pods else self._homes.get(who.container, "")

    def name(self, who: Identity) -> str:
        """The pod of a program, as namespace/name."""
        pod = self._pods.get(self.uid(who))
        return f"{pod.namespace}/{pod.name}" if pod else ""

    def orders(self, who: Identity) -> ContainerOrders:
        """The orders for a program."""
        pod = self._pods.get(self.uid(who))
        return pod.of(who.container) if pod else _NOTHING

    def asked(self, who: Identity, own: ClientLimits) -> ClientLimits:
        """The limits requested for a program whose own limits are ``own``."""
        return self.orders(who).orders.over(own)

    def limits(self, who: Identity, own: ClientLimits) -> ClientLimits:
        """The limits of a program, cut by its ceiling."""
        return self.ceiling(who).cut(self.asked(who, own))

    def ceiling(self, who: Identity) -> Ceiling:
        """The ceiling of a program. Outside of pods, it is no tenant of a cluster, and has none."""
        if not who.pod:
            return NO_CEILING
        pod = self._pods.get(self.uid(who))
        return self.ceilings.of(pod.namespace) if pod else self.ceilings.of_unknown()
