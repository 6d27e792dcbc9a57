"""How long one who is asked to give way may rest before it does.

A regime says how long a rest has to be (regimes/). A client looks at its own work only from the
moment on at which it is asked. But it tells of its work while it has any, and so the device knows
of those who have told nothing for long that they have rested already. What they have rested by then
counts.
"""

from nvshare.core.client import Client
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState

# While it works, a client tells of it every quarter of a second. So who has told that it had
# nothing to do has rested since, but for the last moment.
UNTOLD_SECONDS = 0.3
# Who has told of work is heard again once in a short turn (hearing.py), if it goes on.
UNHEARD_SECONDS = 0.5
UNHEARD_SLICES = 1.5
# A part of the grace is left in any case: it may have begun to work just now.
GRACE_PARTS = 5


def rest_asked(
    state: DeviceState, roster: Roster, client: Client, head: Client, now: float
) -> float:
    """Return after how long a rest a client is asked to give way to the head."""
    rest = roster.regime.rest_seconds(state, roster, client, head)
    if roster.regime.is_sliced:
        return rest
    least = min(rest, state.settings.idle_grace / GRACE_PARTS)
    return max(least, rest - rested_seconds(state, client, now))


def rested_seconds(state: DeviceState, client: Client, now: float) -> float:
    """Return for how long a client that may run has surely had nothing to run."""
    if client.busy:
        return 0.0
    unheard = UNTOLD_SECONDS
    if client.active:
        unheard = max(UNHEARD_SECONDS, UNHEARD_SLICES * state.settings.slice_seconds)
    return max(0.0, now - client.worked_at - unheard)
