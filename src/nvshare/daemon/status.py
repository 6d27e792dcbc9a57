"""The node as it is now, for people: what the core knows, and what the sessions have counted."""

import os
from collections import defaultdict
from collections.abc import Mapping
from typing import TypeAlias

import nvshare
from nvshare.core.client_time import NAMES
from nvshare.daemon.allocation import wish_for
from nvshare.daemon.devices import Gpu
from nvshare.daemon.groups import Group
from nvshare.daemon.identity import shown_name
from nvshare.daemon.minute import Sample, look, time_parts
from nvshare.daemon.naming import name_of
from nvshare.daemon.node import Node, shown_limits
from nvshare.daemon.reading import KINDS
from nvshare.daemon.session import Session
from nvshare.daemon.tally import REFUSALS
from nvshare.telemetry.snapshot import (
    ClientStatus,
    DeviceStatus,
    GroupStatus,
    GroupUse,
    HostStatus,
    MissingGpu,
    NodeStatus,
    Totals,
)
from nvshare.users import user_name

# By the ids of clients.
Samples: TypeAlias = Mapping[int, Sample]


def describe_node(node: Node, started: float) -> NodeStatus:
    """Return everything."""
    now = node.now()
    groups = tuple(describe_group(node, group) for group in node.groups.all())
    used = {(group.key, use.device): use.used for group in groups for use in group.uses}
    samples = _look_at_all(node, now)
    return NodeStatus(
        version=nvshare.__version__,
        pid=os.getpid(),
        uptime_seconds=now - started,
        settings=node.node_settings,
        host=describe_host(node),
        devices=tuple(_describe_gpu(node, gpu, now, samples) for gpu in node.gpus.values()),
        clients=tuple(
            describe_client(node, session, samples[member.id], used[member.group.key, device])
            for session in node.sessions.values()
            if (member := session.member) is not None and (device := member.gpu.uuid)
        ),
        groups=groups,
        missing=describe_missing(node),
    )


def _look_at_all(node: Node, now: float) -> Samples:
    """Look at everybody, once: what a client's time went to is in more than one place."""
    return {
        member.id: look(node, session, member, now)
        for session in node.sessions.values()
        if (member := session.member) is not None
    }


def describe_missing(node: Node) -> tuple[MissingGpu, ...]:
    """Return the GPUs that are not shared and might be."""
    shared = {gpu.index for gpu in node.gpus.values()}
    return tuple(
        MissingGpu(index=one.index, uuid=one.uuid, why=one.why, seconds=node.now() - one.since)
        for one in node.absences.all()
        if one.index not in shared
    )


def describe_host(node: Node) -> HostStatus:
    """Return what the GPUs use of the host."""
    host = node.core.host_view()
    return HostStatus(limit=host.limit or 0, kept=host.kept, swapped_out=host.swapped)


def describe_gpu(node: Node, gpu: Gpu) -> DeviceStatus:
    """Return one GPU."""
    now = node.now()
    return _describe_gpu(node, gpu, now, _look_at_all(node, now))


def _describe_gpu(node: Node, gpu: Gpu, now: float, samples: Samples) -> DeviceStatus:
    device = node.core.view(gpu.uuid)
    lost = node.absences.of(gpu)
    ends = None if device.turn_ends is None else max(0.0, device.turn_ends - now)
    return DeviceStatus(
        index=gpu.index,
        uuid=gpu.uuid,
        name=gpu.name,
        memory=gpu.memory,
        usable=device.usable,
        allocated=device.allocated,
        settings=node.settings[gpu.uuid],
        clients=device.clients,
        running=device.running,
        waiting=device.waiting,
        parked=device.parked,
        turn_changes=device.turn_changes,
        slices=device.slices,
        handovers=node.handovers[gpu.uuid],
        turn_seconds=0.0 if device.turn_began is None else now - device.turn_began,
        turn_ends_in=ends,
        bandwidth=device.bandwidth,
        totals=_totals(node, gpu, now, samples),
        lost_seconds=None if lost is None else now - lost.since,
        lost_because="" if lost is None else lost.why,
        outside=node.outsiders.of(gpu),
    )


def _totals(node: Node, gpu: Gpu, now: float, samples: Samples) -> Totals:
    counts: defaultdict[str, int] = defaultdict(int, node.departed[gpu.uuid])
    for session in node.sessions_of(gpu):
        for name, value in session.tally.counts(now).items():
            counts[name] += value
        if session.member is not None:
            for part, value in samples[session.member.id].spent.items():
                counts[NAMES[part]] += value
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
        attribution=time_parts({part: counts[name] for part, name in NAMES.items()}),
    )


def describe_client(node: Node, session: Session, sample: Sample, group_used: int) -> ClientStatus:
    """Return one client, at the moment of a sample."""
    now = sample.now
    who, hello, tally = session.identity, session.hello, session.tally
    decision, member = session.decision, session.member
    if hello is None or decision is None or member is None:
        raise ValueError("a member has said hello")
    client, outlook = node.core.client_view(member.id), node.core.outlook(member.id)
    asked = node.pods.orders(who)
    ceiling = node.pods.ceiling(who)
    wish = wish_for(hello, node.settings[member.gpu.uuid], asked.orders, ceiling)
    return ClientStatus.of_known(
        id=member.id,
        device=member.gpu.uuid,
        pid=who.pid,
        uid=who.uid,
        user=user_name(who.uid),
        program=who.program,
        pod=who.pod,
        container=who.container,
        pod_name=node.pods.name(who),
        container_name=asked.name,
        group=member.group.key,
        library_version=shown_name(hello.library_version),
        allocation=KINDS[decision.kind].value,
        allocation_because=decision.because,
        allocation_next=wish.value if wish.value != decision.wish.value else "",
        state=client.state.value,
        state_seconds=now - client.since,
        connected_seconds=now - member.since,
        overdue=client.is_overdue,
        cannot_drain=client.cannot_drain,
        parked=client.park.value if client.park else None,
        parked_seconds=now - client.parked_at if client.park else 0.0,
        # Without its context, which it did not ask for.
        allocated=client.memory.own,
        pinned=client.memory.pinned - member.context,
        pinned_by=session.pinned_by,
        swapped_out=client.memory.swapped,
        context=member.context,
        kept=client.kept,
        stuck=outlook.stuck,
        stuck_because=outlook.stuck_because,
        held_up=outlook.is_held_up,
        held_up_because=outlook.held_up_because,
        in_gang=client.in_gang,
        gang_waits_for=outlook.waits_for,
        limits=shown_limits(client.limits),
        capped=tuple(sorted(member.group.capped)),
        group_used=group_used,
        turns=tally.turns,
        running_seconds=tally.running_until(now),
        waited_seconds=tally.waited_until(now),
        longest_wait_seconds=tally.longest_wait_until(now),
        moved_out=tally.moved_out,
        moved_in=tally.moved_in,
        moving_seconds=tally.moving,
        refusals=sum(tally.refusals.values()),
        refusals_by=tally.refusals,
        busy_seconds=tally.told.busy_ns / 1e9,
        launches=tally.told.launches,
        throttled_seconds=tally.told.throttled_ns / 1e9,
        gpu_seconds=tally.told.gpu_ns / 1e9,
        share=client.share_percent,
        used_percent=session.history.percents(now),
        attribution=sample.attribution,
        recent=session.minute.recent(sample),
    )


def describe_group(node: Node, group: Group) -> GroupStatus:
    """Return one group."""
    members = [session.member for session in group.sessions.values() if session.member]
    devices = dict.fromkeys([member.gpu.uuid for member in members])
    limits = node.groups.in_force(group)
    return GroupStatus(
        key=group.key,
        name=name_of(group, node.pods),
        ids=group.ids,
        pids=group.pids,
        limits=limits,
        sources=node.groups.sources(group),
        uses=tuple(_use(node, group, device, limits.memory_limit) for device in devices),
        parked=group.parked,
        unstored=node.groups.unstored(group),
    )


def _used_by(node: Node, group: Group, device: str) -> int:
    """Return what a group uses of a GPU: by the page that it has, or by what it has told."""
    page = group.pages.get(device)
    if page is not None:
        return page.used()
    members = [
        s.member for s in group.sessions.values() if s.member and s.member.gpu.uuid == device
    ]
    return sum(node.core.client_view(one.id).memory.own for one in members)


def _use(node: Node, group: Group, device: str, limit: int | None) -> GroupUse:
    used = _used_by(node, group, device)
    swapped = [
        holding.swapped
        for holding in map(node.core.holding, group.sessions)
        if holding is not None and holding.device == device
    ]
    return GroupUse(
        device=device,
        used=used,
        swapped_out=sum(swapped),
        over_limit=limit is not None and used > limit,
    )
