"""Filling ahead: memory of whoever is next comes in before its turn begins, where there is room.

The head waits, and is certain to have a turn. Whatever has no use until then may be used for its
memory: a change of turn then moves only the rest. Room is what the device's records say, as ever.

Such room is rare. Nobody is told to move out more than others need, and so memory that is not in
use stays where it is until somebody else needs the place: a device on which turns are taken is
full. There is room when somebody has ended, shrunk or been parked since the turn began, and what is
left over does not suffice for the head to run beside those who do.

It harms nobody. Nothing is pushed out for it, and it is never more than there is room for; who runs
shares the bus with it for no longer than that takes to come. When somebody who runs grows, the fill
is stopped, and what has come leaves like any other memory of those who have no turn. Time in which
memory comes ahead is not time that anybody waits, so that no budget is charged for it.
"""

from nvshare.core.client import Client
from nvshare.core.effects import Effect, Fill
from nvshare.core.events import Moved
from nvshare.core.memory import Kind
from nvshare.core.roster import Roster
from nvshare.core.settings import Way
from nvshare.core.state import DeviceState

# Parts of the device: less is not worth an order.
LEAST_PART = 1 / 256


def fill_ahead(state: DeviceState, roster: Roster) -> list[Effect]:
    """Have the head bring in what there is room for; and nobody more than that."""
    effects = _stop(roster)
    head = None if state.head is None else roster.clients.get(state.head)
    if head is None or roster.regime.is_sliced or roster.fetching or not _may_fill(head):
        return effects
    if state.ways.present is Way.DISPLACE:
        # What counts as away is on the device until it is pushed out: there is no room yet.
        return effects
    room, least = free_bytes(roster), max(1, roster.usable * LEAST_PART)
    ahead = min(head.hosted - head.over_limit, room)
    if ahead < least or room < head.ahead_in_vain + least:
        return effects
    roster.set_ahead(head, ahead)
    return [*effects, Fill(head.id, ahead)]


def free_bytes(roster: Roster) -> int:
    """Return how much of the device nobody has memory in, or is to have; and may not just gain."""
    unasked = roster.unasked * len(roster.clients)
    return -roster.overcommit - roster.leaving_bytes - roster.outbound_bytes - unasked


def tells_of_ahead(client: Client, event: Moved) -> bool:
    """Whether a report is about what came ahead of a turn. It comes before all other answers.

    What came in its last chunk may be told with what follows.
    """
    without_turn = not client.holds or event.turn != client.turn
    return without_turn and not event.out_bytes and (client.ahead > 0 or event.in_bytes > 0)


def note_ahead(roster: Roster, client: Client, event: Moved) -> None:
    """Take it that what has come is there, and that no more comes.

    Who could bring in nothing, whatever its reason, is not told again before there is more room: it
    would give the same answer at once, for ever.
    """
    roster.set_ahead(client, 0)
    roster.set_memory(client, event.memory)
    client.ahead_in_vain = 0 if event.in_bytes else free_bytes(roster)


def _may_fill(head: Client) -> bool:
    """Whether a client has nothing on its way. Of a mixture, nobody knows what would come."""
    moves = head.leaving or head.outbound or head.evicting
    return head.kind in (Kind.MANAGED, Kind.EXPLICIT) and not moves


def _stop(roster: Roster) -> list[Effect]:
    """Have those stop whose room is needed by somebody who runs."""
    if roster.overcommit <= 0 or not roster.fetching:
        return []
    going = [client for client in roster.fetching.values() if not client.ahead_stops]
    for client in going:
        client.ahead_stops = True
    return [Fill(client.id, 0) for client in going]
