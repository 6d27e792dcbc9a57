"""Orders to clients that do not run, or exceed their limits, to make room for the others."""

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import (
    Effect,
    Trim,
)
from nvshare.core.lease import State
from nvshare.core.moves.evict import evict, evict_in_turn
from nvshare.core.record.client import Client, in_order


def make_room(roster: Roster) -> list[Effect]:
    """Have clients that do not run make room for the running ones.

    Idle clients come first, beginning with the longest idle; then waiting clients, beginning with
    the one that will run last.
    """
    if not roster.regime.takes_turns or roster.overcommit <= 0 or roster.closed_bytes == 0:
        return []
    return evict_in_turn(roster, sorted(roster.closed.values(), key=_use), roster.overcommit)


def move_over_limit_out(roster: Roster) -> list[Effect]:
    """Have clients move out their memory beyond their limits."""
    effects: list[Effect] = []
    for client in in_order(roster.over.values()):
        if client.state is State.RUNNING:
            effects += _trim(roster, client)
        elif client.id in roster.closed:
            beyond = client.excess.over_limit - client.memory.swapped - client.leaving
            effects += evict(roster, client, min(client.staying, beyond))
    return effects


def _trim(roster: Roster, client: Client) -> list[Effect]:
    most = min(client.excess.over_limit, client.memory.swappable)
    more = roster.host.allowance().take(client, most - client.excess.trimmed)
    client.excess.trim(min(client.excess.trimmed + more, client.excess.over_limit))
    if not more:
        return []
    roster.set_trims(client, client.excess.trims + more)
    return [Trim(client.id, more)]


def _use(client: Client) -> tuple[float, ...]:
    if client.state is State.WAITING:
        return True, *(-part for part in client.place)
    return False, client.since, client.order
