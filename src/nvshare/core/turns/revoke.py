"""Telling clients to give their turns up now, and going on without those that do not answer.

Other files decide which clients: at the end of a turn (device/scheduler.py), when a client has
grown (turns/split.py), or when it is parked (turns/park.py). A client of a gang is told to hold
first, and to give way when the whole gang holds (gangs/give_way.py).
"""

from collections.abc import Iterator
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Report, ReportKind, Revoke, Urgency
from nvshare.core.effects import Hold as TellToHold
from nvshare.core.lease import State, Step
from nvshare.core.moves.sizes import share_out
from nvshare.core.record.client import Client, Hold
from nvshare.core.record.device import DeviceState
from nvshare.core.settings import Way

# How long clients may go on with launched work before they move memory out so that a held client
# can step (gangs/step.py), and how long that move may take; and before clients that wait for
# their turns are let in to catch up.
ROOM_PATIENCE = 0.5
# How long a slice may outlast its end: nothing has to leave for others to go on.
_SLICE_PATIENCE = 1.0


def revoke(roster: Roster, victims: list[Client], excess: int, way: Way) -> list[Effect]:
    """Tell these to give way, and to move ``excess`` bytes out together."""
    effects: list[Effect] = []
    host = roster.host
    # A client that has not reported its memory to be in may still have it out, and would move the
    # rest out as well. Where the host may not hold that, it is told after it has given way.
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
    """Tell a client of a gang to hold, unless it rests."""
    return [] if client.rests else [TellToHold(client.id, client.turn)]


def still_waited_for(roster: Roster) -> Iterator[Client]:
    """Return the clients that were told to give way and have not answered, the first one first."""
    return (client for client in roster.yielding.values() if client.hold is not Hold.HELD)


def waited_for_until(state: DeviceState, roster: Roster) -> float:
    """Return when others go on without the first of these. Infinity: there is none."""
    ends = (one.since + _patience_with(state, roster, one) for one in still_waited_for(roster))
    return min(ends, default=inf)


def _patience_with(state: DeviceState, roster: Roster, client: Client) -> float:
    usual, fits = state.settings.revoke_patience, client.sliced and roster.regime.is_sliced
    return min(usual, _SLICE_PATIENCE) if fits else usual


def next_step(roster: Roster) -> float:
    """Return when a held or waiting client is next to catch up with others. Infinity: never."""
    yielding = roster.yielding.values()
    held = [one for one in yielding if one.hold is Hold.HELD and one.hold_waits]
    late = [one for one in yielding if one.hold in (Hold.TOLD, Hold.STEPS)]
    return min((*(step_at(roster, one) for one in held), *map(catch_up_at, late)), default=inf)


def catch_up_at(client: Client) -> float:
    """Return when clients are let in that this one, which has not drained, may wait for."""
    return client.hold_since + ROOM_PATIENCE if client.awaits_ranks else inf


def step_at(roster: Roster, client: Client) -> float:
    """Return when a held client may be told to step, or others to make room for that."""
    usual = client.hold_since + client.step_patience
    if client.rests or not client.memory.swapped:
        return usual
    if client.room_asked_at is not None:
        # Wait for memory that was ordered out, but only within the patience.
        is_late = any(one.memory.swapped < one.trims for one in roster.running.values())
        return max(usual, client.room_asked_at + (ROOM_PATIENCE if is_late else 0.0))
    lacks = lacks_room_to_step(roster, client)
    return max(usual, client.hold_since + ROOM_PATIENCE) if lacks else usual


def lacks_room_to_step(roster: Roster, client: Client) -> int:
    """Return how much running clients have still to move out for all of a client's memory."""
    running = roster.running.values()
    out = sum(one.trims for one in running)
    lacking = client.memory.swappable + roster.running_bytes - out - roster.room
    return max(0, lacking) if client.memory.swapped and running else 0


def go_on_without_the_silent(state: DeviceState, roster: Roster, now: float) -> list[Effect]:
    """Stop counting clients that were told to give way and have not, for as long as others wait."""
    waited_for = [(one, _patience_with(state, roster, one)) for one in still_waited_for(roster)]
    silent = [(one, patience) for one, patience in waited_for if now >= one.since + patience]
    for client, _ in silent:
        roster.go_on_without(client)
    return [_overdue(state, client, patience) for client, patience in silent]


def send_away(state: DeviceState, roster: Roster, client: Client, now: float) -> list[Effect]:
    """Tell a client whose gate should not be open to give way, without waiting for it."""
    if client.state is not State.RUNNING:
        return []
    roster.move(client, Step.REVOKE, now)
    roster.go_on_without(client)
    text = (
        "says again that it holds a turn: it is told to give way, and other programs do not wait "
        "for it"
    )
    return [
        Revoke(client.id, client.turn, Urgency.NOW, 0),
        Report(ReportKind.OVERDUE, state.id, client.id, text),
    ]


def _overdue(state: DeviceState, client: Client, patience: float) -> Report:
    text = (
        f"has not given up its turn within {patience:g} s; other programs go on without it, "
        f"beside {client.memory.resident} bytes that it may still have on the GPU"
    )
    return Report(ReportKind.OVERDUE, state.id, client.id, text)
