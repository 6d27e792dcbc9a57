"""How long a client that is asked to give way may rest before it does.

A regime says how long a rest has to be (regimes/). A client watches its own work only from the
moment at which it is asked. But it reports while it has work, so a client that has reported nothing
for long has rested already. That rest counts.
"""

from nvshare.core.clients.roster import Roster
from nvshare.core.moves.sizes import outgoing_bytes, swap_seconds
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState

# A working client reports every quarter of a second. So a client that reported no work has rested
# since, except perhaps for the last moment.
UNTOLD_SECONDS = 0.3
# A client that goes on working is heard again once in a slice (shares/report_filter.py).
UNHEARD_SECONDS = 0.5
UNHEARD_SLICES = 1.5
# Where turns are very short, a rest must be shorter: so many fit into a turn.
RESTS_IN_A_TURN = 5
# One of so many parts of the grace is always left: the client may have begun to work just now.
GRACE_PARTS = 5


def rest_asked(roster: Roster, client: Client, head: Client, now: float) -> float:
    """Return how long a client is asked to rest before it gives way to the head."""
    state = roster.state
    rest = rest_seconds(roster, client, head)
    if roster.regime.is_sliced:
        return rest
    least = min(rest, state.settings.idle_grace / GRACE_PARTS)
    return max(least, rest - rested_seconds(state, client, now))


def rest_seconds(roster: Roster, client: Client, head: Client) -> float:
    """Return how long a client may rest before it gives way to the head.

    A rest is worth giving way for if it lasts longer than the move of memory that this costs. That
    is unknown beforehand. A client that rested long enough last time is assumed to do so again; any
    other is given as long as the move would take. So a client that rests often and briefly goes on,
    and a wrong guess costs at most twice as much as the right one.
    """
    state = roster.state
    grace = state.settings.idle_grace
    if roster.regime.rests_are_short(has_shares=bool(roster.with_share)):
        return min(grace, roster.usual_turn / RESTS_IN_A_TURN)
    if outgoing_bytes(roster, head) <= 0:
        return grace
    swap = swap_seconds(roster, head, client.staying)
    return grace if client.rest.last >= swap else max(grace, swap)


def rested_seconds(state: DeviceState, client: Client, now: float) -> float:
    """Return for how long a client with a turn has surely had nothing to run."""
    if client.work.busy:
        return 0.0
    unheard = UNTOLD_SECONDS
    if client.work.active:
        unheard = max(UNHEARD_SECONDS, UNHEARD_SLICES * state.settings.slice_seconds)
    return max(0.0, now - client.work.worked_at - unheard)
