"""Which waiting client is next: the head of the queue."""

from nvshare.core.clients.roster import Roster
from nvshare.core.host.admit import host_lets
from nvshare.core.precedence.interrupt import first_in_turn, lets_go_first
from nvshare.core.record.client import Client
from nvshare.core.turns.undrained import fits_beside_undrained


def find_head(roster: Roster) -> Client | None:
    """Return the first client in the queue that may be the head. Visitors come first there."""
    waiting = roster.waiting
    first = next((one for one in waiting if may_be_head(roster, one)), None)
    if first is None:
        return None
    able = (one for one in waiting.steady() if one.weight and may_be_head(roster, one))
    steady = first_in_turn(roster, able)
    if not first.precedence.bursts:
        return steady or first
    if steady and lets_go_first(roster, first, steady):
        return steady
    return first


def set_head(roster: Roster, head: Client | None) -> None:
    """Note the head of the queue. Another head has another end of the turn."""
    state = roster.state
    name = head.id if head else None
    if name is None or name != state.head:
        state.head, state.deadline = name, None


def may_be_head(roster: Roster, client: Client) -> bool:
    """Whether a waiting client could run, and all of its gang."""
    return not client.gang.stalled and could_be_head(roster, client)


def could_be_head(roster: Roster, client: Client) -> bool:
    """Whether a client could run here once all clients that can have given way."""
    party = {one.id: one for one in roster.party(client)}
    return host_lets(roster, client, party) and fits_beside_undrained(roster, client)
