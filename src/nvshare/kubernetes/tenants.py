"""The pods of this node with what they ask for, as the device plugin needs them."""

from collections.abc import Collection

from nvshare.kubernetes.admission import Tenant
from nvshare.kubernetes.annotations import read_orders
from nvshare.kubernetes.cache import Change
from nvshare.kubernetes.client import Access, Client
from nvshare.kubernetes.watch import PodWatch


class Tenants:
    """Keeps them, for as long as it runs."""

    def __init__(self, *, hami: bool) -> None:
        self._hami = hami
        self._tenants: dict[str, Tenant] = {}
        self._watch: PodWatch | None = None

    async def run(self, access: Access, node: str) -> None:
        """Follow the pods of a node until cancelled."""
        async with Client(access) as client:
            self._watch = PodWatch(client, node, self.take)
            await self._watch.run()

    def take(self, change: Change) -> None:
        """Take in a change of a pod."""
        pod, is_there = change
        before = self._tenants.pop(pod.uid, None)
        if is_there:
            reading = read_orders(pod, before.reading if before else None, hami=self._hami)
            self._tenants[pod.uid] = Tenant(pod, reading)

    def known(self) -> Collection[Tenant] | None:
        """Return all of them; None while they have not been listed."""
        if self._watch is None or not self._watch.synced.is_set():
            return None
        return self._tenants.values()
