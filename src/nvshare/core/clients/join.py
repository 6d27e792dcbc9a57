"""What is known of a client when it joins."""

from nvshare.core.events import ClientJoined
from nvshare.core.record.client import Client, Park


def new_client(event: ClientJoined) -> Client:
    """Return the record of a client that has registered."""
    client = Client(
        id=event.client,
        kind=event.kind,
        memory=event.memory.as_kind(event.kind),
        limits=event.limits,
        group=event.group,
        owner=event.owner,
        can_hold=event.can_hold,
        turn=event.turn,
        served_at=event.now,
        calm_since=event.now,
        granted_at=event.now,
        moved_out_at=event.now,
        moved_in_at=event.now,
        worked_at=event.now,
        park=Park.BY_HAND if event.parked else None,
        parked_at=event.now,
    )
    client.is_new = not event.running and not event.turn and not event.returns
    if client.is_new:
        # A new client has done nothing yet. Others may have counted for hours before they joined.
        client.judged_busy = 0.0
    else:
        # Memory on its way to the host has no pages yet, but will have.
        client.most_out = client.memory.swapped - client.memory.untouched
    client.most_out = max(client.most_out, client.memory.kept)
    client.surely_out = client.memory.kept
    # A client that joins with used memory was a client of an earlier daemon.
    client.growing = not client.memory.swappable or client.memory.untouched > 0
    client.ungranted = event.running and event.ungranted
    return client
