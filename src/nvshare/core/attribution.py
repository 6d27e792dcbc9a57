"""What of the time that a client's events measure is its own. Decides nothing.

Events around a kernel measure for how long it was under way. While others have the device as well,
only a part of that is the client's own. What part, the device knows: it tells for which part of the
time it has worked for whom. It does so late and coarsely, and so nothing is billed by that alone.

Where a device does not tell, everything is billed that was measured: nobody has more than its
share then, but rather less.
"""

from collections import Counter

from nvshare.core.client import Client
from nvshare.core.events import Given
from nvshare.core.regimes import Place
from nvshare.core.roster import Roster

# Of what was known before, so much counts beside what is new.
_KEPT = 0.8
# Too little was measured to compare anything with it.
_LEAST_SECONDS = 0.1
# Told in steps, so that not every little change is told.
_STEPS = 50


def note_given(roster: Roster, client: Client, event: Given) -> None:
    """Compare what a device has done for a client with what the client has measured meanwhile."""
    measured = client.reported_busy - client.given_busy
    client.given_busy = client.reported_busy
    if event.seconds is None:
        return
    client.given_seconds = _KEPT * client.given_seconds + event.seconds
    client.measured_seconds = _KEPT * client.measured_seconds + measured
    if client.measured_seconds >= _LEAST_SECONDS:
        client.own_beside = min(1.0, client.given_seconds / client.measured_seconds)
        roster.neighbours_changed = True


def note_attribution(roster: Roster) -> None:
    """Write down for all who have a share what part of what they measure is theirs."""
    if not roster.neighbours_changed:
        return
    roster.neighbours_changed = False
    there = Counter(map(roster.regime.place, roster.active.values()))
    for client in roster.with_share.values():
        count = _others(roster, client, there)
        part = max(client.own_beside, 1 / (1 + count)) if count else 1.0
        client.own = round(part * _STEPS) / _STEPS


def _others(roster: Roster, client: Client, there: Counter[Place]) -> int:
    """Return how many others have work on the device at the same time as a client."""
    own = roster.regime.place(client)
    beside = there[Place.BESIDE] - (client.active and own is Place.BESIDE)
    # Of those who take turns, one is there.
    return beside + (own is not Place.IN_TURN and there[Place.IN_TURN] > 0)
