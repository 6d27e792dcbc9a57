"""Host memory for those who copy their memory out themselves: who is to have how much of it.

Somebody has to make it, and to lock its pages: that takes several times as long as the copy. So it
is ordered as soon as what all have on a device does not fit together: as much as a client may have
to move out then, which is what does not fit. It counts for the client from then on, as if it had
been out once. Where the host cannot hold everything, nobody takes room ahead of others: only what
was ordered out is made.
"""

from operator import attrgetter

from nvshare.core.client import Client
from nvshare.core.effects import Effect, Provide
from nvshare.core.memory import Kind
from nvshare.core.roster import Roster


def provide(roster: Roster) -> list[Effect]:
    """Order what those who copy their memory lack, or not any more what they have freed."""
    effects: list[Effect] = []
    # In an order that a snapshot keeps: a journal that is replayed tells the same.
    for client in sorted(roster.copied.values(), key=attrgetter("id")):
        ahead = _ahead(roster, client)
        roster.note_out(client, ahead)
        # What it has beyond that is no reason for more. It only becomes less with the client's
        # memory: others come and go, and it is slow to make.
        ordered = min(client.hosted, client.provided) + max(client.leaving, client.offered)
        needed = min(client.memory.swappable, max(client.provided, ordered, ahead))
        if needed != client.provided:
            client.provided = needed
            effects.append(Provide(client.id, needed))
    return effects


def _ahead(roster: Roster, client: Client) -> int:
    """Return what could have to leave. Of a mixture, nobody knows how much is copied."""
    if client.kind is not Kind.EXPLICIT or not roster.regime.takes_turns or roster.host.is_tight:
        return 0
    return min(client.memory.swappable, roster.overflow)
