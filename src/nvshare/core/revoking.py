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
    """Return when somebody who holds is to be told to step (gangs/giving.py); never: infinity."""
    held = (one for one in roster.yielding.values() if one.hold is Hold.HELD and one.hold_waits)
    return min((one.hold_since + one.step_patience for one in held), default=inf)


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
