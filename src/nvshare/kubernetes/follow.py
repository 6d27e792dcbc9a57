"""Turns annotations into orders while the daemon runs, as ``nvshare daemon`` does in a cluster.

Decides nothing about GPUs: the caller is told which orders hold for which pod.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timezone

from nvshare.kubernetes.annotations import Complaint, Reading, read_orders
from nvshare.kubernetes.cache import Change
from nvshare.kubernetes.client import PASSING, Access, Client
from nvshare.kubernetes.cuts import Cut, find_cuts
from nvshare.kubernetes.events import EventBudget, warning
from nvshare.kubernetes.pods import Pod
from nvshare.kubernetes.watch import PodWatch
from nvshare.telemetry.ceilings import NO_CEILING, Ceiling
from nvshare.telemetry.pod_orders import PodOrders

log = logging.getLogger("nvshare.pods")

# The reasons in events, by kind.
REASONS = {
    "cannot leave": "GpuMemoryCannotLeave",
    "held up": "WaitsForGpuMemory",
    "host full": "GpuMemoryRefused",
    "too large": "GpuMemoryRefused",
    "not now": "GpuMemoryRefused",
    "overcommitted": "HostMemoryOvercommitted",
    "cannot drain": "CannotGiveWay",
}

Sink = Callable[[str, PodOrders | None], None]
"""Receives the uid of a pod and its limits from now on; None: the pod is gone."""


Listener = Callable[[str, str, str], None]
"""Receives the uid of a pod, and the kind and text of an event of one of its programs."""

CeilingOf = Callable[[str], Ceiling]
"""Returns the most that the pods of a namespace may have."""


def no_ceiling(_namespace: str) -> Ceiling:
    """Return a ceiling without bounds."""
    return NO_CEILING


async def follow_pods(
    access: Access,
    node: str,
    sink: Sink,
    *,
    hami: bool,
    ceiling_of: CeilingOf = no_ceiling,
    on_notice: Callable[[Listener], None] | None = None,
) -> None:
    """Follow the pods of a node until cancelled. Pass notices of programs on to their pods."""
    async with Client(access) as client:
        follower = Follower(client, node, sink, hami=hami, ceiling_of=ceiling_of)
        if on_notice is not None:
            on_notice(follower.notice)
        try:
            await PodWatch(client, node, follower.take).run()
        finally:
            follower.close()


class Follower:
    """The last result for each pod, and the complaints that were reported."""

    def __init__(
        self,
        client: Client,
        node: str,
        sink: Sink,
        *,
        hami: bool,
        ceiling_of: CeilingOf = no_ceiling,
    ) -> None:
        self._client = client
        self._node = node
        self._sink = sink
        self._hami = hami
        self._ceiling_of = ceiling_of
        self._readings: dict[str, Reading] = {}
        self._told: dict[str, set[Complaint | Cut]] = {}
        self._pods: dict[str, Pod] = {}
        self._budgets: dict[str, EventBudget] = {}
        self._sending: set[asyncio.Task[None]] = set()

    def take(self, change: Change) -> None:
        """Take in a change of a pod."""
        pod, is_there = change
        if not is_there:
            for kept in (self._pods, self._readings, self._told, self._budgets):
                kept.pop(pod.uid, None)
            self._sink(pod.uid, None)
            return
        self._pods[pod.uid] = pod
        before = self._readings.get(pod.uid)
        reading = read_orders(pod, before, hami=self._hami)
        self._readings[pod.uid] = reading
        if before is None or reading.orders != before.orders:
            self._sink(pod.uid, reading.orders)
        cuts = find_cuts(pod, reading, self._ceiling_of(pod.namespace))
        self._complain(pod, {*reading.complaints, *cuts})

    def notice(self, uid: str, kind: str, text: str) -> None:
        """Report what has happened to a program, as an event of its pod."""
        pod = self._pods.get(uid)
        if pod is not None:
            self._post(pod, REASONS.get(kind, "Gpu"), text)

    def close(self) -> None:
        """Cancel events that are being sent."""
        for task in self._sending:
            task.cancel()

    def _complain(self, pod: Pod, complaints: set[Complaint | Cut]) -> None:
        """Report each complaint once; again if it was fixed in between."""
        fresh = complaints - self._told.get(pod.uid, set())
        self._told[pod.uid] = complaints
        for complaint in sorted(fresh, key=str):
            if not self._post(pod, complaint.reason, str(complaint)):
                break
            log.warning("an annotation of %s is not in force: %s", pod, complaint)

    def _post(self, pod: Pod, reason: str, text: str) -> bool:
        """Send an event, unless its pod has had too many. Return whether it was sent."""
        loop = asyncio.get_running_loop()
        budget = self._budgets.setdefault(pod.uid, EventBudget())
        if not budget.take(loop.time()):
            if budget.is_to_be_said():
                log.warning("too many events for %s: no more are sent in this minute", pod)
            return False
        task = loop.create_task(self._send(pod, reason, text))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
        return True

    async def _send(self, pod: Pod, reason: str, text: str) -> None:
        now = datetime.now(timezone.utc)
        event = warning(pod, reason, text, node=self._node, now=now)
        try:
            await self._client.create_event(pod.namespace, event)
        except PASSING as error:
            log.warning(
                "an event of %s cannot be sent: %s", pod, str(error) or type(error).__name__
            )
