"""Host memory for clients that copy their memory out themselves: how much each is to have.

Making it, and locking its pages, takes several times as long as the copy. So it is ordered as soon
as the memory of all clients of a device does not fit together: as much as a client may then have to
move out, which is the overflow. From then on it counts for the client as if it had been out once.
Where the host cannot hold everything, no client takes room ahead of others: host memory is made
only for memory that was ordered out.
"""

from operator import attrgetter

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Provide
from nvshare.core.memory import Kind
from nvshare.core.record.client import Client


def provide(roster: Roster) -> list[Effect]:
    """Order the host memory that each client needs which copies its memory."""
    effects: list[Effect] = []
    # In an order that a snapshot keeps, so that a replayed journal gives the same.
    for client in sorted(roster.copied.values(), key=attrgetter("id")):
        ahead = _ahead(roster, client)
        roster.note_out(client, ahead)
        # Memory that is out beyond what was provided is no reason for more. The order shrinks only
        # with the client's memory: other clients come and go, and host memory is slow to make.
        ordered = min(client.hosted, client.host_pages.provided) + max(
            client.leaving, client.moving.offered
        )
        needed = min(client.memory.swappable, max(client.host_pages.provided, ordered, ahead))
        if needed != client.host_pages.provided:
            client.host_pages.provide(needed)
            effects.append(Provide(client.id, needed))
    return effects


def _ahead(roster: Roster, client: Client) -> int:
    """Return what could have to leave. Of mixed memory, it is unknown how much is copied."""
    if client.kind is not Kind.EXPLICIT or not roster.regime.takes_turns or roster.host.is_tight:
        return 0
    return min(client.memory.swappable, roster.overflow)
