"""What a group has beyond its memory limit, told to the core as the excess of its members."""

from typing import TYPE_CHECKING

from nvshare.core.events import ExcessChanged

if TYPE_CHECKING:
    from nvshare.daemon.groups import Group
    from nvshare.daemon.node import Member, Node


def share_excess(node: "Node", group: "Group", device: str) -> None:
    """Tell the core who has to move how much to the host, if the setting says so.

    The members that came first move first, as far as theirs can be moved.
    """
    roster = node.core.devices[device].roster
    wanted = node.settings[device].swap_excess
    if not wanted and not roster.over:
        return
    members = _members(group, device)
    limit = node.groups.limits(group).memory_limit if group.members else None
    used = sum(roster.clients[one.id].memory.allocated - one.context for one in members)
    excess = max(0, used - limit) if wanted and limit is not None else 0
    for member in members:
        client = roster.clients[member.id]
        share = min(excess, client.memory.swappable)
        excess -= share
        if share != client.excess:
            node.dispatch(ExcessChanged(now=node.now(), client=member.id, excess=share))


def _members(group: "Group", device: str) -> "list[Member]":
    members = (session.member for session in group.members.values())
    return [one for one in members if one is not None and one.gpu.uuid == device]
