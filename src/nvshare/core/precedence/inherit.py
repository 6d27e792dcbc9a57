"""Use that outlives its client: who joins anew goes on where its owner stopped.

The shell names the owner: the process, or its container. So connecting again changes nothing. A
process can also start others like itself. While clients of several users compete, a newcomer goes
on with the greatest use that a program of its user has left.
"""

from nvshare.core.clients.roster import Roster
from nvshare.core.lease import State
from nvshare.core.precedence.charge import end_turn, half_life
from nvshare.core.record.client import Client
from nvshare.core.record.use import Use

# As a part of the half-life: less is forgotten.
_LEAST = 1e-3


def bequeath(roster: Roster, client: Client) -> None:
    """Keep the use of a client that leaves, for its owner."""
    state = roster.state
    if not client.owner:
        return
    end_turn(roster, client)
    life, now = half_life(state), state.use_clock.at
    uses = [*state.left_uses.items(), (client.owner, client.precedence.use)]
    left: dict[str, Use] = {}
    for owner, use in uses:
        before = left[owner].seconds if owner in left else 0.0
        left[owner] = Use(max(before, state.use_clock.read(use, life, 1.0)), now)
    state.left_uses = {one: use for one, use in left.items() if use.seconds >= _LEAST * life}


def inherit(roster: Roster, client: Client) -> None:
    """Give a client that joins the use that its owner has left."""
    state = roster.state
    life = half_life(state)
    known = [state.left_uses.pop(client.owner)] if client.owner in state.left_uses else []
    if not known and set(roster.tenants) - {client.tenant}:
        whose = f"{client.tenant}/"
        known = [use for one, use in state.left_uses.items() if one.startswith(whose)]
    seconds = max((state.use_clock.read(use, life, 1.0) for use in known), default=0.0)
    clock = state.use_clock
    # A client that joins with its gate open holds the device.
    mark = clock.reading if client.state is State.RUNNING else None
    client.precedence.charge(Use(seconds, clock.at, mark))
