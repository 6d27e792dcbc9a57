"""What is known of a client when it joins."""

from nvshare.core.client import Client, Park
from nvshare.core.events import ClientJoined


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
        # It has done nothing yet. Anybody else may have counted for hours before we knew it.
        client.judged_busy = 0.0
    else:
        # What is on its way has no pages yet, and will.
        client.most_out = client.memory.swapped - client.memory.untouched
    client.most_out = max(client.most_out, client.memory.kept)
    client.surely_out = client.memory.kept
    # Who comes with memory that it has used came to an earlier daemon.
    client.growing = not client.memory.swappable or client.memory.untouched > 0
    # What it has had before, nobody knows.
    client.is_first_turn = event.running
    return client
