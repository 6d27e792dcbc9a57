"""The pods of this node with their requests, as the device plugin needs them."""

import logging
from collections.abc import Collection

from nvshare.kubernetes.admission import Tenant
from nvshare.kubernetes.annotations import read_orders
from nvshare.kubernetes.cache import Change
from nvshare.kubernetes.client import PASSING, Access, Client
from nvshare.kubernetes.pods import Pod, read_pod
from nvshare.kubernetes.watch import PodWatch

log = logging.getLogger("nvshare.plugin")


class Tenants:
    """Keeps the pods up to date while it runs."""

    def __init__(self, *, hami: bool) -> None:
        self._hami = hami
        self._tenants: dict[str, Tenant] = {}
        self._node = ""
        self._client: Client | None = None
        self._watch: PodWatch | None = None

    async def run(self, access: Access, node: str) -> None:
        """Follow the pods of a node until cancelled."""
        async with Client(access) as client:
            self._node, self._client = node, client
            self._watch = PodWatch(client, node, self.take)
            await self._watch.run()

    def take(self, change: Change) -> None:
        """Take in a change of a pod."""
        pod, is_there = change
        if is_there:
            self._tenants[pod.uid] = self._read(pod)
        else:
            self._tenants.pop(pod.uid, None)

    def known(self) -> Collection[Tenant] | None:
        """Return all pods; None while they have not been listed."""
        if self._watch is None or not self._watch.synced.is_set():
            return None
        return self._tenants.values()

    async def fresh(self) -> Collection[Tenant] | None:
        """Ask the API server, which may be ahead of our watch; None: it does not answer."""
        if self._client is None:
            return None
        try:
            items, _ = await self._client.list_pods(self._node)
        except PASSING as error:
            log.warning("the pods of this node cannot be listed: %s", error)
            return None
        return [self._read(pod) for pod in map(read_pod, items)]

    def _read(self, pod: Pod) -> Tenant:
        before = self._tenants.get(pod.uid)
        return Tenant(pod, read_orders(pod, before.reading if before else None, hami=self._hami))
