"""Memory that could not leave a device if others ran there. Decides nothing."""

from collections.abc import Container, Iterator, Mapping
from operator import attrgetter

from nvshare.core.clients.roster import Roster
from nvshare.core.record.client import Client


def has_room_for(roster: Roster, together: Mapping[int, Client]) -> bool:
    """Whether these could run together without displacing memory that cannot leave."""
    stuck = stuck_beside(roster, together)
    size = sum(client.memory.swappable for client in together.values())
    return not stuck or size + stuck <= roster.room


def stuck_beside(roster: Roster, running: Container[int]) -> int:
    """Bytes of all others that could not leave if these ran."""
    return sum(stuck for _, stuck in stuck_of_others(roster, running))


def stuck_of_others(roster: Roster, running: Container[int]) -> Iterator[tuple[Client, int]]:
    """Yield these bytes by client."""
    if roster.host.is_tight:
        allowance = roster.host.allowance()
        for client in sorted(roster.clients.values(), key=attrgetter("id")):
            stays = 0 if client.id in running else client.inside
            if stays and (stuck := stays - allowance.take(client, stays)):
                yield client, stuck
