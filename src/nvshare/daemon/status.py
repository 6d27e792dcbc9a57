"""The node as it is now, for people: what the core knows, and what the sessions have counted."""

import os
from collections import Counter

import nvshare
from nvshare.core.lease import State
from nvshare.core.outlook import why_held_up
from nvshare.daemon.allocation import wish_for
from nvshare.daemon.devices import Gpu
from nvshare.daemon.groups import Group
from nvshare.daemon.history import SPANS
from nvshare.daemon.naming import name_of
from nvshare.daemon.node import Member, Node, limits_of
from nvshare.daemon.session import KINDS, Session
from nvshare.telemetry.snapshot import (
    ClientStatus,
    DeviceStatus,
    GroupStatus,
    GroupUse,
    HostStatus,
    NodeStatus,
    Totals,
)


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
    )


def describe_host(node: Node) -> HostStatus:
    """Return what the GPUs use of the host."""
    host = node.core.host
    clients = [c for device in node.core.devices.values() for c in device.roster.clients.values()]
    return HostStatus(
        limit=host.state.limit or 0,
        kept=sum(client.most_out for client in clients),
        swapped_out=sum(client.memory.swapped for client in clients),
    )


def describe_gpu(node: Node, gpu: Gpu) -> DeviceStatus:
    """Return one GPU."""
    now = node.now()
    device = node.core.devices[gpu.uuid]
    state, roster = device.state, device.roster
    ends = None if state.deadline is None else max(0.0, state.deadline - now)
    return DeviceStatus(
        index=gpu.index,
        uuid=gpu.uuid,
        name=gpu.name,
        memory=gpu.memory,
        usable=state.usable_bytes,
        allocated=roster.pinned + roster.swappable,
        settings=node.settings[gpu.uuid],
        clients=len(roster.clients),
        running=len(roster.running),
        waiting=len(roster.waiting),
        parked=len(roster.parked),
        turn_changes=state.turn_changes,
        slices=state.slices,
        handovers=node.handovers[gpu.uuid],
        turn_seconds=now - state.turn_started if roster.running else 0.0,
        turn_ends_in=ends,
        bandwidth=state.pace.bandwidth,
        totals=_totals(node, gpu, now),
    )


def _totals(node: Node, gpu: Gpu, now: float) -> Totals:
    counts = Counter(node.departed[gpu.uuid])
    for session in node.members_of(gpu):
        counts.update(session.tally.counts(now))
    return Totals(
        clients=counts["clients"],
        turns=counts["turns"],
        running_seconds=counts["running_ns"] / 1e9,
        waited_seconds=counts["waited_ns"] / 1e9,
        moved_out=counts["moved_out"],
        moved_in=counts["moved_in"],
        moving_seconds=counts["moving_ns"] / 1e9,
        busy_seconds=counts["busy_ns"] / 1e9,
        launches=counts["launches"],
        throttled_seconds=counts["throttled_ns"] / 1e9,
        gpu_seconds=counts["gpu_ns"] / 1e9,
    )


def describe_client(node: Node, session: Session, member: Member, group_used: int) -> ClientStatus:
    """Return one client."""
    now = node.now()
    who, hello, tally = session.identity, session.hello, session.tally
    decision = session.decision
    if hello is None or decision is None:
        raise ValueError("a member has said hello")
    roster = node.core.devices[member.gpu.uuid].roster
    client = roster.clients[member.id]
    stuck = node.core.host.room.stuck(client)
    held_up = (
        client.state is State.WAITING and not client.is_barred and not roster.host_lets(client)
    )
    asked = node.pods.orders(who)
    wish = wish_for(hello, node.settings[member.gpu.uuid], asked.orders)
    return ClientStatus(
        id=member.id,
        device=member.gpu.uuid,
        pid=who.pid,
        uid=who.uid,
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
        overdue=client.overdue,
        cannot_drain=client.undrained_since is not None,
        parked=client.park.value if client.park else None,
        parked_seconds=now - client.parked_at if client.park else 0.0,
        # Without its context, which it did not ask for.
        allocated=client.memory.allocated - member.context,
        pinned=client.memory.pinned - member.context,
        pinned_by=session.pinned_by,
        swapped_out=client.memory.swapped,
        context=member.context,
        kept=client.most_out,
        stuck=stuck,
        stuck_because=node.core.host.room.why(client) if stuck else "",
        held_up=held_up,
        held_up_because=why_held_up(roster, client) if held_up else "",
        limits=limits_of(node.core, member),
        group_used=group_used,
        turns=tally.turns,
        running_seconds=tally.running_until(now),
        waited_seconds=tally.waited_until(now),
        longest_wait_seconds=tally.longest_wait_until(now),
        moved_out=tally.moved_out,
        moved_in=tally.moved_in,
        moving_seconds=tally.moving,
        busy_seconds=tally.told.busy_ns / 1e9,
        launches=tally.told.launches,
        throttled_seconds=tally.told.throttled_ns / 1e9,
        gpu_seconds=tally.told.gpu_ns / 1e9,
        share=client.share.percent,
        used_percent={span: session.history.percent(now, span) for span in SPANS},
    )


def describe_group(node: Node, group: Group) -> GroupStatus:
    """Return one group."""
    devices = dict.fromkeys(s.member.gpu.uuid for s in group.members.values() if s.member)
    limits = node.groups.limits(group)
    return GroupStatus(
        key=group.key,
        name=name_of(group, node.pods),
        pids=tuple(sorted({session.identity.pid for session in group.members.values()})),
        limits=limits,
        sources=node.groups.sources(group),
        uses=tuple(_use(node, group, device, limits.memory_limit) for device in devices),
        parked=group.parked,
    )


def _used_by(node: Node, group: Group, device: str) -> int:
    """Return what a group uses of a GPU: by the page that it has, or by what it has told."""
    page = group.pages.get(device)
    if page is not None:
        return page.used()
    members = [s.member for s in group.members.values() if s.member and s.member.gpu.uuid == device]
    clients = node.core.devices[device].roster.clients
    return sum(clients[one.id].memory.allocated - one.context for one in members)


def _use(node: Node, group: Group, device: str, limit: int | None) -> GroupUse:
    clients = node.core.devices[device].roster.clients
    used = _used_by(node, group, device)
    return GroupUse(
        device=device,
        used=used,
        swapped_out=sum(clients[n].memory.swapped for n in group.members if n in clients),
        over_limit=limit is not None and used > limit,
    )
