"""What clients report of their memory: what they have, what has moved, what is on its way.

Reports cross with orders. So memory that was ordered out, and memory that the client reported to be
on its way, are kept apart from memory that has surely left.
"""

from nvshare.core.clients.roster import Roster
from nvshare.core.events import MemoryChanged, Moved
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.moves.measure import learn_from
from nvshare.core.record.client import Client

# A client that could move nothing out is told again after this time.
RETRY_SECONDS = 1.0


def note_changed(roster: Roster, client: Client, event: MemoryChanged) -> None:
    """Note what a client has allocated, freed, or asks for."""
    before, out = client.memory, client.hosted
    roster.set_memory(client, event.memory)
    if event.for_context:
        roster.await_room(client, event.ticket)
    # Memory that was ordered out counts as swapped as soon as its move has begun, while it is still
    # on the device. New memory behind a closed gate counts as swapped too. Requested memory is
    # nowhere.
    new = client.memory.untouched - before.untouched
    if not event.ticket:
        new = max(new, client.memory.swappable - before.swappable)
    new = max(0, new)
    begun = min(client.moving.evicting, client.memory.swapped - before.swapped - new)
    if begun > 0 and not client.has_turn:
        roster.set_evicting(client, client.moving.evicting - begun)
        roster.note_out(client, out + begun)
        roster.set_outbound(client, client.moving.outbound + begun)


def note_moved(roster: Roster, client: Client, event: Moved) -> None:
    """Note what a client has moved, and learn from it how fast the bus is."""
    state = roster.state
    has_turn = client.has_turn and event.turn == client.turn.number
    if event.in_bytes and not event.out_bytes and not has_turn:
        # The turn was handed over, and the core has not heard of that yet; or it is over.
        roster.set_memory(client, event.memory)
        return
    learn_from(state, client, event)
    if event.in_bytes and client.turn.number == event.turn:
        roster.set_missing(client, 0, 0)
        client.growth.be_calm(event.now)
        # The whole wait counts, whatever its reason.
        state.ways.measure(event.in_bytes, event.now - client.turn.granted_at)
    if (
        client.excess.over_limit
        and client.moving.evicting
        and not event.out_bytes
        and not event.left
    ):
        # The client cannot move any, and would be asked again and again.
        roster.set_over_limit(client, 0)
    if client.park and client.moving.evicting and not event.out_bytes and not event.left:
        client.moving.wait(event.now + RETRY_SECONDS)
    # Memory that was on its way at the last report is counted already.
    moved = max(0, event.out_bytes + event.left - client.moving.outbound)
    crossed = event.out_bytes > 0 and client.moving.outbound > 0
    note_memory(roster, client, event.memory, moved, may_cross=crossed)
    roster.set_outbound(client, event.left)
    out = min(client.host_pages.surely_out + event.out_bytes + event.left, client.memory.swapped)
    note_surely_out(roster, client, out, event.left)


def note_memory(
    roster: Roster,
    client: Client,
    memory: Memory,
    moved_bytes: int,
    *,
    is_answer: bool = False,
    may_cross: bool = False,
) -> None:
    """Note what a client has after it has moved out what it was told to, or more.

    A client that was told to give way answers with Released; a report before that has crossed with
    the order. So has a report on an earlier order that says nothing of the last one.
    """
    unread = may_cross and memory.swapped <= client.memory.swapped
    told = 0 if unread else client.leaving
    out = client.hosted + max(told, client.moving.offered, moved_bytes)
    roster.set_memory(client, memory)
    if is_answer or (client.state is not State.YIELDING and not unread):
        roster.set_evicting(client, 0)
    # Memory that was never on the device is away as well, but not on the host.
    roster.note_out(client, min(out, client.memory.swapped - client.memory.untouched))


def note_surely_out(roster: Roster, client: Client, out: int, left: int) -> None:
    """Note how much has surely left: what is out or has pages, without what is on its way."""
    roster.note_surely_out(client, max(out, client.memory.kept) - left)
