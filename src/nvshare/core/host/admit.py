"""Which clients may run together: those that fit, with what the host can hold. Keeps nothing."""

from collections import ChainMap
from collections.abc import Iterable, Mapping

from nvshare.core.clients.roster import Roster
from nvshare.core.host.safe_order import leaves_hope
from nvshare.core.host.stuck import has_room_for
from nvshare.core.memory import Load
from nvshare.core.record.client import Client


def admits(roster: Roster, *clients: Client) -> bool:
    """Whether clients, which fit together, fit beside all holders of turns."""
    running, yielding = roster.running_load, roster.yielding_load
    held = Load(running.weight + yielding.weight, running.heavy + yielding.heavy)
    fits = held.admits(sum(client.weight for client in clients), roster.capacity)
    return fits and _host_lets_each(roster, clients, roster.running, roster.yielding)


def running_admits(roster: Roster, *clients: Client) -> bool:
    """Whether clients fit beside the running ones, once the yielding ones have given way."""
    fits = roster.running_load.admits(sum(client.weight for client in clients), roster.capacity)
    return fits and _host_lets_each(roster, clients, roster.running)


def _host_lets_each(
    roster: Roster, clients: Iterable[Client], *others: Mapping[int, Client]
) -> bool:
    if not roster.host.is_tight:
        return True
    together = {client.id: client for client in clients}
    return all(host_lets(roster, client, together, *others) for client in together.values())


def host_lets(roster: Roster, client: Client, *others: Mapping[int, Client]) -> bool:
    """Whether the host can hold what has to leave if a client runs with these.

    A client that is larger than the device pushes all others out.
    """
    if not roster.host.is_tight or not client.memory.swappable:
        return True
    return host_lets_all(roster, {client.id: client}, *others)


def host_lets_all(roster: Roster, *clients: Mapping[int, Client]) -> bool:
    """Whether these may run together: room for all, and hope (host/safe_order.py)."""
    if not roster.host.is_tight or not roster.regime.takes_turns:
        return True
    together = dict(ChainMap(*map(dict, clients)))
    return has_room_for(roster, together) and leaves_hope(roster, together)


def is_held_back(roster: Roster, client: Client) -> bool:
    """Whether a waiting client has room to run, but may not."""
    return not host_lets(roster, client) and has_room_for(roster, {client.id: client})
