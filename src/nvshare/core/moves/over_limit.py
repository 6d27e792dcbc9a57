"""Which clients have more memory than their limit allows, and so need some of it on the host.

Only where the setting ``swap_excess`` says so: otherwise a lowered limit breaks nothing. Clients of
one group share their limit. This file works out the excess of each client; moves/make_room.py
orders it out.
"""

from collections.abc import Iterator

from nvshare.core.clients.roster import Roster
from nvshare.core.events import (
    ClientLeft,
    Event,
    LimitsChanged,
    MemoryChanged,
    OverLimitChanged,
    SettingsChanged,
)
from nvshare.core.record.client import Client
from nvshare.core.settings import NO_LIMITS

# The name of a group, or the number of a client that has its own limits.
Group = str | int


def groups_to_judge(roster: Roster, event: Event) -> list[Group]:
    """Return the groups whose excess over a limit may change with an event that is to come."""
    is_wanted = roster.state.settings.swap_excess
    match event:
        case SettingsChanged() if is_wanted or event.settings.swap_excess:
            return list(dict.fromkeys(map(_group_of, _in_order(roster))))
        case MemoryChanged() | LimitsChanged() | ClientLeft() if is_wanted:
            return [_group_of(roster.clients[event.client])]
    return []


def over_limit_changes(roster: Roster, group: Group, now: float) -> Iterator[OverLimitChanged]:
    """Yield the clients of a group whose excess has changed.

    The members that came first move first, as far as their memory can be moved.
    """
    members = [client for client in _in_order(roster) if _group_of(client) == group]
    excess = _over_limit(members) if roster.state.settings.swap_excess else 0
    if excess is None:
        return
    for client in members:
        part = min(excess, client.memory.swappable)
        excess -= part
        if part != client.excess.over_limit:
            yield OverLimitChanged(now=now, client=client.id, over_limit=part)


def _over_limit(members: list[Client]) -> int | None:
    """Return what a group has beyond its limit. None: its limits are just being changed.

    The members get new limits one after the other, and are judged after the last one.
    """
    limits = {client.limits for client in members}
    if len(limits) > 1:
        return None
    limit = next(iter(limits), NO_LIMITS).memory_bytes
    used = sum(client.memory.own for client in members)
    return 0 if limit is None else max(0, used - limit)


def _in_order(roster: Roster) -> list[Client]:
    return [client for _, client in sorted(roster.clients.items())]


def _group_of(client: Client) -> Group:
    return client.group or client.id
