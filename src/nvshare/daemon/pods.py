"""What the pods of a cluster ask of the programs in them. Who says so is not known here."""

from nvshare.daemon.identity import Identity
from nvshare.telemetry.pods import ContainerOrders, PodOrders
from nvshare.telemetry.settings import ClientLimits

_NOTHING = ContainerOrders()


class Pods:
    """The orders of every pod that has been heard of, by its uid."""

    def __init__(self) -> None:
        self._pods: dict[str, PodOrders] = {}

    def set(self, uid: str, orders: PodOrders | None) -> None:
        """Note what a pod asks for; None: there is no such pod any more."""
        if orders is None:
            self._pods.pop(uid, None)
        else:
            self._pods[uid] = orders

    def name(self, who: Identity) -> str:
        """The pod of a program, as namespace/name."""
        pod = self._pods.get(who.pod)
        return f"{pod.namespace}/{pod.name}" if pod else ""

    def orders(self, who: Identity) -> ContainerOrders:
        """What is asked of a program."""
        pod = self._pods.get(who.pod)
        return pod.of(who.container) if pod else _NOTHING

    def limits(self, who: Identity, own: ClientLimits) -> ClientLimits:
        """What a program may use, if it could use so much outside of a pod."""
        return self.orders(who).orders.over(own)
