"""Debts: a client that kept a device beyond its turn pays with its next turns.

Time is charged as the client held it, not as the client reports it: from the order to give way
until it gave its turn up or left, or until the others went on without it. Each of the others has
waited for the time beyond a grace. So the owner of the client owes that time to each of them: until
it is over, no client of that owner is the head while others run or wait. If no other client wants
the device, it need not wait.

The shell names the owner: the process, or its container. So connecting again changes nothing.
Clients without an owner owe nothing.

A process can start others like itself. So an owner may have an owner (``user 7/process 12``). While
clients that belong to other users are there, a debt of one process is owed by all of its user's.
"""

from math import inf

from nvshare.core.client import Client
from nvshare.core.lease import State
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState

# The grace: so many seconds, and so many times the time of moving all of its memory out.
GRACE = 1.0
MOVES = 4
# No debt lasts longer than this many of the longest turns.
MOST_TURNS = 4


def note_end(state: DeviceState, roster: Roster, client: Client, now: float) -> None:
    """Charge a client that gives its turn up, or leaves, for the time by which it is late."""
    if not client.owner or client.state is not State.YIELDING or client.gang is not None:
        return
    patience = state.settings.revoke_patience
    moves = MOVES * state.pace.swap_seconds(client.memory.swappable, 0)
    late = min(now - client.since, patience) - GRACE - min(moves, patience / 2)
    others = sum(one.owner != client.owner for one in roster.clients.values() if _competes(one))
    if late <= 0 or not others:
        return
    most = MOST_TURNS * state.settings.longest_turn
    owed = max(state.debts.get(client.owner, now), now) + late * others
    state.debts = {owner: until for owner, until in state.debts.items() if until > now}
    state.debts[client.owner] = min(owed, now + most)


def _whose(client: Client) -> str:
    return client.owner.rpartition("/")[0] or client.owner


def _competes(client: Client) -> bool:
    return client.state is State.WAITING or client.holds


def pays(state: DeviceState, roster: Roster, client: Client, now: float) -> bool:
    """Whether a waiting client has to let others go before it."""
    if not state.debts or now >= _until(state, roster, client, now):
        return False
    return any(one.owner != client.owner for one in roster.running.values()) or any(
        now >= _until(state, roster, one, now) for one in roster.waiting if one is not client
    )


def next_payment(state: DeviceState, roster: Roster, now: float) -> float:
    """Return when the first debt of a waiting client ends. Infinity: never."""
    if not state.debts:
        return inf
    ends = (_until(state, roster, client, now) for client in roster.waiting)
    return min((end for end in ends if end > now), default=inf)


def _until(state: DeviceState, roster: Roster, client: Client, now: float) -> float:
    own = state.debts.get(client.owner, -inf) if client.owner else -inf
    whose, part, _ = client.owner.rpartition("/")
    if not part:
        return own
    owed = (until for owner, until in state.debts.items() if owner.startswith(whose + part))
    most = max(owed, default=-inf)
    if most <= max(own, now):
        return own
    is_among_others = any(_whose(one) != whose for one in roster.clients.values())
    return most if is_among_others else own
