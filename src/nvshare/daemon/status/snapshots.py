"""Snapshots of the node for users: the core's view, and the counters of the clients.

describe_client.py and describe_group.py describe clients and groups.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import nvshare
from nvshare.daemon.clients.counters import COUNTED, REFUSALS
from nvshare.daemon.clients.last_minute import PARTS, Sample, time_parts
from nvshare.daemon.clients.sample_clients import sample
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.node import Node
from nvshare.daemon.status.describe_client import ClientStatuses
from nvshare.daemon.status.describe_group import GroupStatuses
from nvshare.telemetry.snapshot import (
    DeviceStatus,
    HostStatus,
    MissingGpu,
    NodeStatus,
    Thrashing,
    Totals,
)

# By client id.
Samples: TypeAlias = Mapping[int, Sample]


class Snapshots:
    """Takes snapshots on demand; keeps values that do not change from one to the next."""

    def __init__(self, node: Node, started: float) -> None:
        self._node = node
        self._started = started
        self._clients = ClientStatuses(node)
        self._groups = GroupStatuses(node)

    def take(self, *, past: bool = True) -> NodeStatus:
        """Take a snapshot."""
        node, now = self._node, self._node.now()
        groups = tuple(map(self._groups.describe, node.groups.all()))
        used = {(group.key, use.device): use.used for group in groups for use in group.uses}
        samples = _look_at_all(node, now)
        clients = tuple(
            self._clients.describe(
                client, samples[client.id], used[client.group.key, client.gpu.uuid], past=past
            )
            for client in node.clients.all()
        )
        self._groups.forget_others()
        self._clients.forget_others()
        return NodeStatus(
            version=nvshare.__version__,
            pid=os.getpid(),
            uptime_seconds=now - self._started,
            settings=node.node_settings,
            host=describe_host(node),
            devices=tuple(_describe_gpu(node, gpu, now, samples) for gpu in node.gpus.all()),
            clients=clients,
            groups=groups,
            missing=describe_missing(node),
        )


def _look_at_all(node: Node, now: float) -> Samples:
    """Sample every client once: a snapshot has its time in more than one place."""
    return {client.id: sample(node.executor, client, now) for client in node.clients.all()}


def describe_missing(node: Node) -> tuple[MissingGpu, ...]:
    """Return the GPUs that are not shared but could be."""
    shared = {gpu.index for gpu in node.gpus.all()}
    return tuple(
        MissingGpu(index=one.index, uuid=one.uuid, why=one.why, seconds=node.now() - one.since)
        for one in node.outages.all()
        if one.index not in shared
    )


def describe_host(node: Node) -> HostStatus:
    """Return the host memory that the GPUs use."""
    host = node.core.host_view()
    return HostStatus(limit=host.limit or 0, kept=host.kept, swapped_out=host.swapped)


def _sums(names: Sequence[str], rows: Iterable[tuple[int, ...]]) -> dict[str, int]:
    """Add up the counters of many clients, by name."""
    return dict(zip(names, map(sum, zip(*rows, strict=True)), strict=False))


def describe_gpu(node: Node, gpu: Gpu) -> DeviceStatus:
    """Describe one GPU."""
    now = node.now()
    return _describe_gpu(node, gpu, now, _look_at_all(node, now))


def _describe_gpu(node: Node, gpu: Gpu, now: float, samples: Samples) -> DeviceStatus:
    device = node.core.view(gpu.uuid)
    lost = node.outages.of(gpu)
    ends = None if device.turn_ends is None else max(0.0, device.turn_ends - now)
    return DeviceStatus(
        index=gpu.index,
        uuid=gpu.uuid,
        name=gpu.name,
        memory=gpu.memory,
        usable=device.usable,
        allocated=device.allocated,
        settings=node.gpus.settings[gpu.uuid],
        clients=device.clients,
        running=device.running,
        waiting=device.waiting,
        parked=device.parked,
        turn_changes=device.turn_changes,
        slices=device.slices,
        handovers=node.clients.handovers[gpu.uuid],
        turn_seconds=0.0 if device.turn_began is None else now - device.turn_began,
        turn_ends_in=ends,
        bandwidth=device.bandwidth,
        totals=_totals(node, gpu, now, samples),
        lost_seconds=None if lost is None else now - lost.since,
        lost_because="" if lost is None else lost.why,
        outside=node.outsiders.of(gpu),
        thrashing=_thrashing(node, gpu, now),
    )


def _thrashing(node: Node, gpu: Gpu, now: float) -> Thrashing | None:
    found = node.thrashing.of(gpu)
    if found is None:
        return None
    return Thrashing(
        seconds=now - found.since, programs=found.programs, memory=found.memory, room=found.room
    )


def _totals(node: Node, gpu: Gpu, now: float, samples: Samples) -> Totals:
    counts = Counter(node.clients.departed[gpu.uuid])
    clients = node.clients.of(gpu)
    counts.update(_sums(COUNTED, [client.counters.numbers(now) for client in clients]))
    counts.update(_sums(PARTS, [samples[client.id].spent for client in clients]))
    for client in clients:
        if client.counters.refusals:
            counts.update(client.counters.refusals)
    return Totals(
        clients=counts["clients"],
        turns=counts["turns"],
        running_seconds=counts["running_ns"] / 1e9,
        waited_seconds=counts["waited_ns"] / 1e9,
        moved_out=counts["moved_out"],
        moved_in=counts["moved_in"],
        moving_seconds=counts["moving_ns"] / 1e9,
        refusals=sum(counts[why] for why in REFUSALS),
        refusals_by={why: counts[why] for why in REFUSALS if counts[why]},
        busy_seconds=counts["busy_ns"] / 1e9,
        launches=counts["launches"],
        throttled_seconds=counts["throttled_ns"] / 1e9,
        gpu_seconds=counts["gpu_ns"] / 1e9,
        attribution=time_parts(counts[name] for name in PARTS),
    )
