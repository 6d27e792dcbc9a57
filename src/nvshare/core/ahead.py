"""Filling ahead: a client's memory comes in before its turn begins, where there is room.

The head is certain to have the next turn. Until then, its memory may come into unused room, and the
change of turn moves only the rest. Room is what the device's own accounts say, not what the driver
reports.

Such room is rare. Clients move out no more than others need, so unused memory stays where it is
until another client needs its place: a device on which turns are taken is full. There is room after
a client has ended, shrunk or been parked, if the rest still does not fit together.

Filling ahead harms no client. It pushes nothing out, and never takes more than the free room. It
shares the bus with the running clients for no longer than the room takes to fill. When one of them
grows, the fill is stopped, and the memory that came leaves like any other memory of clients without
a turn. No client waits while memory comes ahead.
"""

from nvshare.core.client import Client, in_order
from nvshare.core.effects import Effect, Fill
from nvshare.core.events import Moved
from nvshare.core.making_way import makes_way
from nvshare.core.memory import Kind
from nvshare.core.roster import Roster
from nvshare.core.settings import Way
from nvshare.core.state import DeviceState

# As a part of the device. A smaller fill is not worth an order.
LEAST_PART = 1 / 256


def fill_ahead(state: DeviceState, roster: Roster) -> list[Effect]:
    """Have the next client fill the free room, and stop fills whose room is needed."""
    effects = _stop(roster)
    if roster.regime.is_sliced or roster.fetching:
        return effects
    if state.ways.present is Way.DISPLACE:
        # Memory that counts as away is on the device until it is pushed out: there is no room yet.
        return effects
    room, least = free_bytes(roster), max(1, roster.usable * LEAST_PART)
    client = _next(state, roster) if room >= least else None
    if client is None or room < client.ahead_in_vain + least:
        return effects
    ahead = min(_fillable(client), room)
    if ahead < least:
        return effects
    roster.set_ahead(client, ahead)
    return [*effects, Fill(client.id, ahead)]


def _next(state: DeviceState, roster: Roster) -> Client | None:
    """Return the client that is certain to have the next turn, if its memory may come in."""
    if state.head is None:
        return None
    head = roster.clients[state.head]
    return head if _may_fill(head) and not makes_way(roster, head) else None


def _fillable(client: Client) -> int:
    """Return the bytes of a client that are on the host and within its limit."""
    return client.hosted - client.over_limit


def free_bytes(roster: Roster) -> int:
    """Return the bytes of the device that are unused, unplanned, and not to be gained unasked."""
    unasked = roster.unasked * len(roster.clients)
    return -roster.overcommit - roster.leaving_bytes - roster.outbound_bytes - unasked


def tells_of_ahead(client: Client, event: Moved) -> bool:
    """Whether a report is about memory that came ahead of a turn.

    It comes before all other answers. Its last chunk may be reported with the next answer.
    """
    without_turn = not client.holds or event.turn != client.turn
    return without_turn and not event.out_bytes and (client.ahead > 0 or event.in_bytes > 0)


def note_ahead(roster: Roster, client: Client, event: Moved) -> None:
    """Note that a fill ahead has ended, with the memory that it brought.

    A client that could bring in nothing, for whatever reason, is not told again before there is
    more room: it would give the same answer at once, endlessly.
    """
    roster.set_ahead(client, 0)
    roster.set_memory(client, event.memory)
    client.ahead_in_vain = 0 if event.in_bytes else free_bytes(roster)


def _may_fill(client: Client) -> bool:
    """Whether nothing of a client moves. Of mixed memory, it is unknown which part would come."""
    moves = client.leaving or client.outbound or client.evicting
    return client.kind in (Kind.MANAGED, Kind.EXPLICIT) and not moves


def _stop(roster: Roster) -> list[Effect]:
    """Stop all fills ahead if running clients need the room."""
    if roster.overcommit <= 0 or not roster.fetching:
        return []
    going = in_order(client for client in roster.fetching.values() if not client.ahead_stops)
    for client in going:
        client.ahead_stops = True
    return [Fill(client.id, 0) for client in going]
