"""The node as it is now, for people: what the core knows, and what the sessions have counted."""

import os
from collections import defaultdict

import nvshare
from nvshare.core.client_time import NAMES
from nvshare.daemon.allocation import wish_for
from nvshare.daemon.devices import Gpu
from nvshare.daemon.groups import Group
from nvshare.daemon.minute import look, time_parts
from nvshare.daemon.naming import name_of
from nvshare.daemon.node import Member, Node, shown_limits
from nvshare.daemon.session import KINDS, Session
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


def describe_node(node: Node, started: float) -> NodeStatus:
    """Return everything."""
    now = node.now()
    groups = tuple(describe_group(node, group) for group in node.groups.all())
    used = {(group.key, use.device): use.used for group in groups for use in group.uses}
    return NodeStatus(
        version=nvshare.__version__,
        pid=os.getpid(),
        uptime_seconds=now - started,
        settings=node.node_settings,
        host=describe_host(node),
        devices=tuple(describe_gpu(node, gpu) for gpu in node.gpus.values()),
        clients=tuple(
            describe_client(node, session, member, used[member.group.key, member.gpu.uuid])
            for session in node.members.values()
            if (member := session.member) is not None
        ),
        groups=groups,
        missing=describe_missing(node),
    )


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
        totals=_totals(node, gpu, now),
        lost_seconds=None if lost is None else now - lost.since,
        lost_because="" if lost is None else lost.why,
        outside=node.outsiders.of(gpu),
    )


def _totals(node: Node, gpu: Gpu, now: float) -> Totals:
    counts: defaultdict[str, int] = defaultdict(int, node.departed[gpu.uuid])
    for session in node.members_of(gpu):
        for name, value in node.counts_of(session, now).items():
            counts[name] += value
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


def describe_client(node: Node, session: Session, member: Member, group_used: int) -> ClientStatus:
    """Return one client."""
    now = node.now()
    who, hello, tally = session.identity, session.hello, session.tally
    decision = session.decision
    if hello is None or decision is None:
        raise ValueError("a member has said hello")
    client, outlook = node.core.client_view(member.id), node.core.outlook(member.id)
    asked = node.pods.orders(who)
    wish = wish_for(hello, node.settings[member.gpu.uuid], asked.orders)
    return ClientStatus(
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
        library_version=hello.library_version,
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
        attribution=(sample := look(node, session, member, now)).attribution,
        recent=session.minute.recent(sample),
    )


def describe_group(node: Node, group: Group) -> GroupStatus:
    """Return one group."""
    devices = dict.fromkeys(s.member.gpu.uuid for s in group.members.values() if s.member)
    limits = node.groups.in_force(group)
    return GroupStatus(
        key=group.key,
        name=name_of(group, node.pods),
        ids=tuple(sorted(group.members)),
        pids=tuple(sorted({session.identity.pid for session in group.members.values()})),
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
    members = [s.member for s in group.members.values() if s.member and s.member.gpu.uuid == device]
    return sum(node.core.client_view(one.id).memory.own for one in members)


def _use(node: Node, group: Group, device: str, limit: int | None) -> GroupUse:
    used = _used_by(node, group, device)
    swapped = [
        holding.swapped
        for holding in map(node.core.holding, group.members)
        if holding is not None and holding.device == device
    ]
    return GroupUse(
        device=device,
        used=used,
        swapped_out=sum(swapped),
        over_limit=limit is not None and used > limit,
    )
