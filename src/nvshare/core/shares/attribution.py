"""Which part of the time that a client's events measure is its own. Decides nothing.

Events around a kernel measure how long it was under way. While other clients use the device as
well, only a part of that time is the client's own. The device reports for how long it worked for
each client. These reports are late and coarse, so no time is billed by them alone.

Where a device reports nothing, all measured time is billed: a client then gets less than its share,
never more.
"""

from collections import Counter

from nvshare.core.clients.roster import Roster
from nvshare.core.events import Given
from nvshare.core.record.client import Client
from nvshare.core.regimes import Place

# Clients are told the part in steps, so that small changes cause no message.
_STEPS = 50


def note_given(roster: Roster, client: Client, event: Given) -> None:
    """Compare the time that a device worked for a client with the time that the client measured."""
    if client.bill.compare(event.seconds, client.work.reported_busy):
        roster.neighbours_changed = True


def note_attribution(roster: Roster) -> None:
    """Note for each client with a share which part of its measured time is its own."""
    if not roster.neighbours_changed:
        return
    roster.neighbours_changed = False
    there = Counter(map(roster.regime.place, roster.active.values()))
    for client in roster.with_share.values():
        count = _others(roster, client, there)
        part = max(client.bill.own_beside, 1 / (1 + count)) if count else 1.0
        client.bill.note_own(round(part * _STEPS) / _STEPS)


def _others(roster: Roster, client: Client, there: Counter[Place]) -> int:
    """Return how many others have work on the device at the same time as a client."""
    own = roster.regime.place(client)
    beside = there[Place.BESIDE] - (client.work.active and own is Place.BESIDE)
    # Of the clients that take turns, one is on the device.
    return beside + (own is not Place.IN_TURN and there[Place.IN_TURN] > 0)
