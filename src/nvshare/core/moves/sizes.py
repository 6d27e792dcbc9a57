"""What has to move for a client to run, and how long that takes. Changes nothing."""

from collections.abc import Iterable, Iterator, Sequence

from nvshare.core.clients.host_room import Allowance
from nvshare.core.clients.roster import Roster
from nvshare.core.memory import Kind
from nvshare.core.record.client import Client
from nvshare.core.settings import Way


def fill_bytes(client: Client, room: int) -> int:
    """Return how much of a client's memory has room. 0 means all of it."""
    room = max(1, room)
    is_whole = client.kind is Kind.EXPLICIT or client.memory.swappable <= room
    return 0 if is_whole else room


def fill_order(client: Client, room: int) -> int:
    """Return how much a client is told to bring in as its turn begins, within its limit.

    0 means all of it, so the least order is one byte.
    """
    memory = client.memory
    if not client.excess.over_limit or not memory.swapped:
        return fill_bytes(client, room)
    filled = max(1, min(memory.swapped - client.excess.over_limit, room))
    return filled if filled < memory.swappable else 0


def incoming_bytes(clients: Iterable[Client], room: int) -> int:
    """Return how much more room these need on the device than they take now."""
    return sum(max(0, min(client.memory.swappable, room) - client.staying) for client in clients)


def outgoing_bytes(roster: Roster, *coming: Client) -> int:
    """Return how much others have to move out before these can run beside the running ones."""
    return roster.overcommit + incoming_bytes(coming, roster.room)


def missing_bytes(roster: Roster, head: Client) -> int:
    """Return how much of the head's memory will have no room yet as its turn begins."""
    state = roster.state
    # What it has been told to move out for the present turn will be away by then.
    if not (head.memory.swapped or head.leaving) or state.ways.present is Way.DISPLACE:
        return 0
    leaving = roster.leaving_bytes - head.leaving + roster.outbound_bytes
    return max(0, outgoing_bytes(roster, head) + leaving)


def share_out(
    victims: Iterable[Client], excess: int, allowance: Allowance
) -> Iterator[tuple[Client, int]]:
    """Yield how much each of these moves out, so that together they make ``excess`` room.

    None is asked to move memory that the host cannot hold.
    """
    for client in victims:
        evicted = allowance.take(client, min(client.staying, excess))
        excess -= evicted
        yield client, evicted


def choose_way(
    roster: Roster,
    going: Sequence[Client],
    coming: Sequence[Client],
    outgoing: int,
) -> Way:
    """Decide how going clients make room for coming ones, and note it for the measurement."""
    state = roster.state
    way = state.ways.preferred
    if way is Way.DISPLACE and not _may_displace(roster, going, coming):
        way = Way.MOVE_OUT
    state.ways.present = way if outgoing > 0 else None
    return way


def _may_displace(roster: Roster, going: Sequence[Client], coming: Sequence[Client]) -> bool:
    """Whether the driver would certainly push out the going client's memory first."""
    if len(going) != 1 or len(coming) != 1 or roster.outbound_bytes or roster.host.is_tight:
        return False
    if any(client.kind.is_copied for client in (*going, *coming)):
        return False
    # A prefetch pushes out in bulk. Memory that was never used comes by itself, piece by piece.
    if coming[0].memory.untouched:
        return False
    holders = (*roster.running.values(), *roster.yielding.values(), *roster.overdue.values())
    present = {client.id for client in holders if client.present} | set(roster.closed)
    return present <= {going[0].id, coming[0].id}


def swap_seconds(roster: Roster, head: Client, most: int) -> float:
    """Estimate how long it takes to make room for the head, ``most`` at most, and to fill it."""
    state = roster.state
    out = min(outgoing_bytes(roster, head), most)
    return state.pace.swap_seconds(out, min(head.memory.swapped, roster.room))
