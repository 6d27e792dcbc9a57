"""Who has kept a device for longer than its turn pays for that with its next turns.

Time is charged by what a client has held, not by what it says: from when it was told to go until
it has gone, be it by giving its turn up or by leaving; or until the others went on without it. What
is beyond a grace, each of the others has waited for. So the owner of the client owes that time to
each of them: until it is over, no client of that owner is the head while others run or wait. If
nobody else wants the device, it need not wait.

The owner is whoever the shell says: the process, or the container that it is in. So to connect
again changes nothing. Clients without an owner owe nothing.

A process can make others like itself. So an owner may be somebody's (``user 7/process 12``). While
clients of others than this somebody are there, all that are its owe what one of them does.
"""

from math import inf

from nvshare.core.client import Client
from nvshare.core.lease import State
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState

# So long may it take to go; and so many times as long as moving all of its memory out.
GRACE = 1.0
MOVES = 4
# Nobody pays for longer than this many of the longest turns.
MOST_TURNS = 4


def note_end(state: DeviceState, roster: Roster, client: Client, now: float) -> None:
    """Charge a client that gives its turn up, or leaves, for the time that it was late."""
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
    """Whether a client that waits has to let others go before it."""
    if not state.debts or now >= _until(state, roster, client, now):
        return False
    return any(one.owner != client.owner for one in roster.running.values()) or any(
        now >= _until(state, roster, one, now) for one in roster.waiting if one is not client
    )


def next_payment(state: DeviceState, roster: Roster, now: float) -> float:
    """Return when somebody who waits owes nothing any more; never: infinity."""
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
