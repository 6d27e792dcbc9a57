"""Ordering memory out of clients that do not run. Other files decide which clients and how much."""

from collections.abc import Iterable

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Evict
from nvshare.core.moves.sizes import share_out
from nvshare.core.record.client import Client


def is_leaving(roster: Roster, client: Client) -> bool:
    """Whether an order is under way that has to end first, because the host is short."""
    return client.leaving > 0 and roster.host.is_tight


def evict(roster: Roster, client: Client, wanted: int) -> list[Effect]:
    """Have ``wanted`` bytes of a client leave, or as many as the host can hold."""
    if is_leaving(roster, client):
        return []
    evicted = roster.host.allowance().take(client, wanted)
    return order_out(roster, client, evicted) if evicted > 0 else []


def evict_in_turn(roster: Roster, clients: Iterable[Client], wanted: int) -> list[Effect]:
    """Have ``wanted`` bytes of these leave, beginning with the first of them."""
    able = (one for one in clients if not is_leaving(roster, one))
    shares = share_out(able, wanted, roster.host.allowance())
    return [order for client, part in shares if part for order in order_out(roster, client, part)]


def order_out(roster: Roster, client: Client, evicted: int) -> list[Effect]:
    """Order memory out that the host can hold."""
    roster.set_evicting(client, client.moving.evicting + evicted)
    return [Evict(client.id, evicted)]
