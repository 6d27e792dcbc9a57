"""What a second of the device costs a client: its weight divides its use.

A client of high priority pays a twentieth of what one of normal priority pays, and that one a
twentieth of what one of low priority pays. So where they all compute all the time, the one of
higher priority gets twenty times as much. No weight counts for less than a twentieth of the
greatest one there is: whatever goes before it, a client gets that much.

If several users compete, the programs of each share the weight of one. A container is a user.
"""

from nvshare.core.clients.counts import Counts
from nvshare.core.record.client import Client
from nvshare.core.settings import Priority

RATIO = 20.0
_WEIGHTS = {Priority.HIGH: RATIO, Priority.NORMAL: 1.0, Priority.LOW: 1 / RATIO}


def weight_of(roster: Counts, client: Client) -> float:
    """Return a client's weight among the clients that compete now."""
    weight = _by_priority(roster, client.limits.priority)
    if len(roster.tenants) > 1:
        weight /= max(1, roster.tenants[client.tenant])
    return weight


def weights_of_all(roster: Counts) -> float:
    """Return the sum of the weights of all clients that may compete."""
    total = sum(_by_priority(roster, one) * count for one, count in roster.classes.items())
    if len(roster.tenants) > 1:
        total *= len(roster.tenants) / roster.tenants.total()
    return total


def _by_priority(roster: Counts, priority: Priority) -> float:
    if len(roster.classes) < 2:
        return 1.0
    greatest = max(_WEIGHTS[one] for one in roster.classes)
    return max(_WEIGHTS[priority], greatest / RATIO)
