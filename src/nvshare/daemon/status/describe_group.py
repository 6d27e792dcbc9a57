"""A group as users see it."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from nvshare.core.memory import Memory
from nvshare.daemon.groups.groups import Group
from nvshare.daemon.groups.names import name_of
from nvshare.daemon.node import Node
from nvshare.daemon.status.cache import Cache
from nvshare.telemetry.snapshot import GroupStatus, GroupUse


class GroupStatuses:
    """Describes groups for each snapshot."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._steady: Cache[str, dict[str, Any]] = Cache()

    def describe(self, group: Group) -> GroupStatus:
        """Return one group."""
        node = self._node
        made_of = (group.ids, group.in_force, group.chosen, group.capped, node.pods.changes)
        steady = self._steady.get(group.key, made_of, lambda: _steady(node, group))
        uses = tuple(_uses(node, group, steady["limits"].memory_limit))
        now = {"uses": uses, "parked": group.parked, "unstored": node.groups.unstored(group)}
        return GroupStatus.of_known({**steady, **now})

    def forget_others(self) -> None:
        """Forget groups that have not been described since the last call."""
        self._steady.forget_others()


# All fields, in the order of the JSON.
_EMPTY: dict[str, Any] = dict.fromkeys(GroupStatus.model_fields)


def describe_group(node: Node, group: Group) -> GroupStatus:
    """Describe one group, without keeping anything."""
    return GroupStatuses(node).describe(group)


def _steady(node: Node, group: Group) -> dict[str, Any]:
    """Return the fields that change only by a decision, and empty fields for the others."""
    return {
        **_EMPTY,
        "key": group.key,
        "name": name_of(group, node.pods),
        "ids": group.ids,
        "pids": group.pids,
        "limits": node.groups.in_force(group),
        "sources": node.groups.sources(group),
    }


def _uses(node: Node, group: Group, limit: int | None) -> Iterator[GroupUse]:
    memories: defaultdict[str, list[Memory]] = defaultdict(list)
    for number in group.ids:
        if (client := node.clients.get(number)) is not None:
            memories[client.gpu.uuid].append(node.core.belongings(number).memory)
    for device, found in memories.items():
        page = group.pages.get(device)
        # By its quota page, or by its reports.
        used = sum(memory.own for memory in found) if page is None else page.used()
        yield GroupUse.of_known(
            {
                "device": device,
                "used": used,
                "swapped_out": sum(memory.swapped for memory in found),
                "over_limit": limit is not None and used > limit,
            }
        )
