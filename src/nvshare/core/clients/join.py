"""What is known of a client when it joins."""

from nvshare.core.events import ClientJoined
from nvshare.core.record.client import Client, Park
from nvshare.core.record.growth import Growth
from nvshare.core.record.host_pages import HostPages
from nvshare.core.record.moving import Moving
from nvshare.core.record.precedence import Precedence
from nvshare.core.record.turn import Turn
from nvshare.core.record.work import Work


def new_client(event: ClientJoined) -> Client:
    """Return the record of a client that has registered."""
    now, memory = event.now, event.memory.as_kind(event.kind)
    away = memory.swapped - memory.untouched
    is_new = not event.running and not event.turn and not event.returns
    return Client(
        id=event.client,
        kind=event.kind,
        memory=memory,
        limits=event.limits,
        group=event.group,
        owner=event.owner,
        can_hold=event.can_hold,
        park=Park.BY_HAND if event.parked else None,
        parked_at=now,
        # A new client has done nothing yet. Others may have counted for hours before they joined.
        work=Work(worked_at=now, judged_busy=0.0 if is_new else None),
        precedence=Precedence(is_new=is_new, served_at=now),
        turn=Turn(event.turn, granted_at=now, ungranted=event.running and event.ungranted),
        moving=Moving(out_at=now, in_at=now),
        # Memory on its way to the host has no pages yet, but will have.
        host_pages=HostPages(max(0 if is_new else away, memory.kept), memory.kept),
        # A client that joins with used memory was a client of an earlier daemon.
        growth=Growth(growing=not memory.swappable or memory.untouched > 0, calm_since=now),
    )
