"""Asking running clients to give way when they are idle, and taking that back.

turns/gates.py decides when; these functions find the clients, and order it. Clients of a gang
are asked together (gangs/soft_revoke.py).
"""

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Revoke
from nvshare.core.moves.sizes import choose_way, outgoing_bytes
from nvshare.core.record.client import Client, in_order
from nvshare.core.turns.orders import keep, revoke_when_idle
from nvshare.core.turns.rest import rest_asked

# As a part of the grace: long enough for one to give way, and for the others to hear of it.
APART = 0.5


def ask(roster: Roster, head: Client, now: float) -> list[Effect]:
    """Ask all clients in the head's way that were not asked yet."""
    # A client that was asked may have no weight by now, and is in no client's way then. A client
    # that cannot give way is not asked.
    heavy = roster.running_load.heavy - sum(one.weight > 0 for one in roster.undrained.values())
    if sum(client.weight > 0 for client in roster.soft_revoked.values()) == heavy:
        return []
    new = [one for one in roster.in_the_way if not one.turn.soft_revoked and not one.in_gang]
    for client in new:
        roster.ask(client, now)
    # Where one of them suffices, not all should give way at once. The longest unheard comes first.
    places = {client.id: place for place, client in enumerate(sorted(new, key=_unheard))}
    return [_please(roster, client, head, now, places[client.id]) for client in new]


def _unheard(client: Client) -> tuple[float, int]:
    return client.work.worked_at, client.order


def _please(roster: Roster, client: Client, head: Client, now: float, place: int) -> Revoke:
    # Memory has to move only if the head can come as soon as this client has given way.
    state = roster.state
    evicted = 0
    rest = roster.running_load.weight - client.weight
    alone = roster.running_load.heavy == 1 or rest + head.weight <= roster.capacity
    # The client moves memory by itself at an unknown time, while others may move theirs. So where
    # the host may not hold everything, it is told after it has given way.
    if alone and not roster.yielding and not roster.host.is_tight:
        evicted = max(0, min(client.staying, outgoing_bytes(roster, head)))
        roster.offer(client, evicted)
    way = choose_way(roster, [client], [head], evicted)
    seconds = rest_asked(roster, client, head, now)
    if evicted:
        seconds += place * APART * state.settings.idle_grace
    client.turn.expect_rest(seconds)
    client.turn.note_slice(sliced=roster.regime.is_sliced)
    return revoke_when_idle(client, seconds, evicted, way)


def relax(roster: Roster, now: float) -> list[Effect]:
    """Take all soft revokes back."""
    state = roster.state
    asked = in_order(client for client in roster.soft_revoked.values() if not client.in_gang)
    for client in asked:
        roster.keep(client, now)
        if state.handover and state.handover.from_client == client.id:
            # Keep takes a hand-over back as well.
            state.handover = None
    return [keep(client) for client in asked]
