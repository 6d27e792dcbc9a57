"""Annotations to orders, for as long as the daemon runs: what ``nvshare daemon`` does in a cluster.

Decides nothing about GPUs: whoever starts it is told which orders hold for which pod.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timezone

from nvshare.kubernetes.annotations import Complaint, Reading, read_orders
from nvshare.kubernetes.cache import Change
from nvshare.kubernetes.client import PASSING, Access, Client
from nvshare.kubernetes.events import warning
from nvshare.kubernetes.pods import Pod
from nvshare.kubernetes.watch import PodWatch
from nvshare.telemetry.pods import PodOrders

log = logging.getLogger("nvshare.pods")

Sink = Callable[[str, PodOrders | None], None]
"""Is told the uid of a pod and what holds for it from now on; None: the pod is gone."""


async def follow_pods(access: Access, node: str, sink: Sink, *, hami: bool) -> None:
    """Follow the pods of a node until cancelled."""
    async with Client(access) as client:
        follower = Follower(client, node, sink, hami=hami)
        try:
            await PodWatch(client, node, follower.take).run()
        finally:
            follower.close()


class Follower:
    """What was made of each pod the last time, and who has been told."""

    def __init__(self, client: Client, node: str, sink: Sink, *, hami: bool) -> None:
        self._client = client
        self._node = node
        self._sink = sink
        self._hami = hami
        self._readings: dict[str, Reading] = {}
        self._told: dict[str, set[Complaint]] = {}
        self._sending: set[asyncio.Task[None]] = set()

    def take(self, change: Change) -> None:
        """Take in a change of a pod."""
        pod, is_there = change
        if not is_there:
            self._readings.pop(pod.uid, None)
            self._told.pop(pod.uid, None)
            self._tell(pod, None)
            return
        before = self._readings.get(pod.uid)
        reading = read_orders(pod, before, hami=self._hami)
        self._readings[pod.uid] = reading
        if before is None or reading.orders != before.orders:
            self._tell(pod, reading.orders)
        self._complain(pod, set(reading.complaints))

    def close(self) -> None:
        """Leave what is being sent."""
        for task in self._sending:
            task.cancel()

    def _tell(self, pod: Pod, orders: PodOrders | None) -> None:
        for uid in pod.uids:
            self._sink(uid, orders)

    def _complain(self, pod: Pod, complaints: set[Complaint]) -> None:
        """Say once what is wrong; once more if it was put right and is wrong again."""
        fresh = complaints - self._told.get(pod.uid, set())
        self._told[pod.uid] = complaints
        for complaint in fresh:
            log.warning("an annotation of %s makes no sense: %s", pod, complaint)
            task = asyncio.get_running_loop().create_task(self._send(pod, complaint))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, pod: Pod, complaint: Complaint) -> None:
        now = datetime.now(timezone.utc)
        event = warning(pod, "BadGpuAnnotation", str(complaint), node=self._node, now=now)
        try:
            await self._client.create_event(pod.namespace, event)
        except PASSING as error:
            log.warning("%s cannot be told of it: %s", pod, str(error) or type(error).__name__)
