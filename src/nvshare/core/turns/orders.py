"""What a client is told about its turn: each order is made here and nowhere else.

Other files decide who is told what, and note it. A rest that a client has had already counts when
it is asked alone (turns/rest.py). It does not count for a gang: a rank that has been idle for long
may have waited for another one all that time (gangs/soft_revoke.py).
"""

from nvshare.core.effects import Grant, Keep, Revoke, Urgency
from nvshare.core.record.client import Client
from nvshare.core.settings import Way


def grant(client: Client, fill: int, missing: int = 0) -> Grant:
    """Open a client's gate, for the turn that was noted."""
    return Grant(client.id, client.turn.number, fill, missing)


def revoke_now(client: Client, evicted: int = 0, way: Way = Way.MOVE_OUT) -> Revoke:
    """Have a client give its turn up, and make room for others in that way."""
    displace = evicted > 0 and way is Way.DISPLACE
    return Revoke(client.id, client.turn.number, Urgency.NOW, evicted, displace=displace)


def revoke_when_idle(
    client: Client, rest: float, evicted: int = 0, way: Way = Way.MOVE_OUT
) -> Revoke:
    """Have a client do the same as soon as it has rested for so long."""
    displace = evicted > 0 and way is Way.DISPLACE
    return Revoke(
        client.id, client.turn.number, Urgency.WHEN_IDLE, evicted, rest, displace=displace
    )


def keep(client: Client) -> Keep:
    """Take that back."""
    return Keep(client.id, client.turn.number)
