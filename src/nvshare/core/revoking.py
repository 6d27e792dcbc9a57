"""Telling clients to give their turns up now, and going on without those who do not answer.

Who has to go is decided elsewhere: at the end of a turn (scheduler.py), when somebody has grown
(splitting.py), or when a person parks it (parking.py). Who is in a gang is told to hold first, and
to go when all of the gang do (gangs/giving.py).
"""

from collections.abc import Iterator
from math import inf

from nvshare.core.client import Client, Hold
from nvshare.core.effects import Effect, Report, ReportKind, Revoke, Urgency
from nvshare.core.effects import Hold as TellToHold
from nvshare.core.lease import State, Step
from nvshare.core.moves import share_out
from nvshare.core.roster import Roster
from nvshare.core.settings import Way
from nvshare.core.state import DeviceState

# How long who runs may go on with what it has launched before it moves memory out so that one who
# holds can step (gangs/stepping.py); and how long that may take.
ROOM_PATIENCE = 0.5


def revoke(roster: Roster, victims: list[Client], excess: int, way: Way) -> list[Effect]:
    """Tell these to go, and to move so much out together."""
    effects: list[Effect] = []
    host = roster.host
    # Who has not said that its memory is in may have it out still, and would move the rest out
    # as well. Where the host may not hold that, it is told when it has given way.
    known = [c for c in victims if not c.memory.swapped or not host.is_tight]
    shares = {c.id: evicted for c, evicted in share_out(known, excess, host.allowance())}
    for client in victims:
        client.sliced = roster.regime.is_sliced
        if client.hold is not None:
            effects += tell_to_hold(client)
            continue
        evicted = shares.get(client.id, 0)
        roster.set_evicting(client, evicted)
        displace = evicted > 0 and way is Way.DISPLACE
        effects.append(Revoke(client.id, client.turn, Urgency.NOW, evicted, displace=displace))
    return effects


def tell_to_hold(client: Client) -> list[Effect]:
    """Tell one of a gang to hold, unless it has no turn to hold."""
    return [] if client.rests else [TellToHold(client.id, client.turn)]


def still_waited_for(roster: Roster) -> Iterator[Client]:
    """Return those who were told to go, and have not answered, the first one first."""
    return (client for client in roster.yielding.values() if client.hold is not Hold.HELD)


def next_step(roster: Roster) -> float:
    """Return when somebody who holds is to be told to step; never: infinity."""
    held = (one for one in roster.yielding.values() if one.hold is Hold.HELD and one.hold_waits)
    return min((step_at(roster, one) for one in held), default=inf)


def step_at(roster: Roster, client: Client) -> float:
    """Return when one who holds may be told to step, or others to make room for that."""
    usual = client.hold_since + client.step_patience
    if client.rests or not client.memory.swapped:
        return usual
    if client.room_asked_at is not None:
        # What was told to leave is waited for, and for no longer than that.
        is_late = any(one.memory.swapped < one.trims for one in roster.running.values())
        return max(usual, client.room_asked_at + (ROOM_PATIENCE if is_late else 0.0))
    lacks = lacks_room_to_step(roster, client)
    return max(usual, client.hold_since + ROOM_PATIENCE) if lacks else usual


def lacks_room_to_step(roster: Roster, client: Client) -> int:
    """Return how much those who run have still to move out until a client can have all it has."""
    running = roster.running.values()
    out = sum(one.trims for one in running)
    lacking = client.memory.swappable + roster.running_bytes - out - roster.room
    return max(0, lacking) if client.memory.swapped and running else 0


def go_on_without_the_silent(state: DeviceState, roster: Roster, now: float) -> list[Effect]:
    """Stop counting with those who were told to go, and have not for ``revoke_patience``."""
    patience = state.settings.revoke_patience
    silent = [c for c in still_waited_for(roster) if now >= c.since + patience]
    for client in silent:
        roster.go_on_without(client)
    return [_overdue(state, client, patience) for client in silent]


def send_away(state: DeviceState, roster: Roster, client: Client, now: float) -> list[Effect]:
    """Tell a client to go whose gate should not be open, and wait for nothing."""
    if client.state is not State.RUNNING:
        return []
    roster.move(client, Step.REVOKE, now)
    roster.go_on_without(client)
    text = "says that it holds a turn, as it did before: it is told to give way, and not counted"
    return [
        Revoke(client.id, client.turn, Urgency.NOW, 0),
        Report(ReportKind.OVERDUE, state.id, client.id, text),
    ]


def _overdue(state: DeviceState, client: Client, patience: float) -> Report:
    text = (
        f"has not given its turn up within {patience:g} s; the others go on without it, "
        f"beside {client.memory.resident} bytes that it may still have on the GPU"
    )
    return Report(ReportKind.OVERDUE, state.id, client.id, text)
