"""Telling clients to give their turns up now, and going on without those that do not answer.

Other files decide which clients: at the end of a turn (turns/switch.py), when a client has
grown (turns/split.py), or when it is parked (turns/park.py). A client of a gang is told to hold
first, and to give way when the whole gang holds (gangs/give_way.py).
"""

from collections.abc import Iterator
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Report, ReportKind
from nvshare.core.effects import Hold as TellToHold
from nvshare.core.lease import State, Step
from nvshare.core.moves.sizes import share_out
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState
from nvshare.core.record.gang import HoldStage
from nvshare.core.settings import Way
from nvshare.core.turns.orders import revoke_now

# How long clients may go on with launched work before they move memory out so that a held client
# can step (gangs/step.py), and how long that move may take; and before clients that wait for
# their turns are let in to catch up.
ROOM_PATIENCE = 0.5
# How long a slice may outlast its end, if the client's kernels are not known to take longer: for
# the others to go on, nothing has to leave.
_SLICE_PATIENCE = 1.0
# As a multiple of the time that it takes the client to give way.
_OVERRUN = 2.0


def revoke(roster: Roster, victims: list[Client], excess: int, way: Way) -> list[Effect]:
    """Tell these to give way, and to move ``excess`` bytes out together."""
    effects: list[Effect] = []
    host = roster.host
    # A client that has not reported its memory to be in may still have it out, and would move the
    # rest out as well. Where the host may not hold that, it is told after it has given way.
    known = [c for c in victims if not c.memory.swapped or not host.is_tight]
    shares = {c.id: evicted for c, evicted in share_out(known, excess, host.allowance())}
    for client in victims:
        client.turn.note_slice(sliced=roster.regime.is_sliced)
        if client.hold.stage is not None:
            effects += tell_to_hold(client)
            continue
        evicted = shares.get(client.id, 0)
        roster.set_evicting(client, evicted)
        effects.append(revoke_now(client, evicted, way))
    return effects


def tell_to_hold(client: Client) -> list[Effect]:
    """Tell a client of a gang to hold, unless it rests."""
    return [] if client.gang.rests else [TellToHold(client.id, client.turn.number)]


def still_waited_for(roster: Roster) -> Iterator[Client]:
    """Return the clients that were told to give way and have not answered, the first one first."""
    return (
        client for client in roster.yielding.values() if client.hold.stage is not HoldStage.HELD
    )


def next_step(roster: Roster) -> float:
    """Return when a held or waiting client is next to catch up with others. Infinity: never."""
    yielding = roster.yielding.values()
    held = [one for one in yielding if one.hold.stage is HoldStage.HELD and one.hold.waits]
    late = [one for one in yielding if one.hold.stage in (HoldStage.TOLD, HoldStage.STEPS)]
    return min((*(step_at(roster, one) for one in held), *map(catch_up_at, late)), default=inf)


def catch_up_at(client: Client) -> float:
    """Return when clients are let in that this one, which has not drained, may wait for."""
    return client.hold.since + ROOM_PATIENCE if client.hold.awaits_ranks else inf


def step_at(roster: Roster, client: Client) -> float:
    """Return when a held client may be told to step, or others to make room for that."""
    usual = client.hold.since + client.hold.step_patience
    if client.gang.rests or not client.memory.swapped:
        return usual
    if client.hold.room_asked_at is not None:
        # Wait for memory that was ordered out, but only within the patience.
        is_late = any(one.memory.swapped < one.excess.trims for one in roster.running.values())
        return max(usual, client.hold.room_asked_at + (ROOM_PATIENCE if is_late else 0.0))
    lacks = lacks_room_to_step(roster, client)
    return max(usual, client.hold.since + ROOM_PATIENCE) if lacks else usual


def lacks_room_to_step(roster: Roster, client: Client) -> int:
    """Return how much running clients have still to move out for all of a client's memory."""
    running = roster.running.values()
    out = sum(one.excess.trims for one in running)
    lacking = client.memory.swappable + roster.running_bytes - out - roster.room
    return max(0, lacking) if client.memory.swapped and running else 0


def go_on_without_the_silent(roster: Roster, now: float) -> list[Effect]:
    """Stop counting clients that were told to give way and have not, for as long as others wait."""
    waited_for = [(one, _patience_with(roster, one)) for one in still_waited_for(roster)]
    silent = [(one, patience) for one, patience in waited_for if now >= one.since + patience]
    for client, _ in silent:
        roster.go_on_without(client)
    return [_overdue(roster.state, client, patience) for client, patience in silent]


def patience_due(roster: Roster) -> float:
    """Return when others go on without the first of these. Infinity: there is none."""
    ends = (one.since + _patience_with(roster, one) for one in still_waited_for(roster))
    return min(ends, default=inf)


def _patience_with(roster: Roster, client: Client) -> float:
    usual = roster.state.settings.revoke_patience
    if not client.turn.sliced or not roster.regime.is_sliced:
        return usual
    return min(usual, max(_SLICE_PATIENCE, _OVERRUN * client.drain.seconds))


def send_away(roster: Roster, client: Client, now: float) -> list[Effect]:
    """Tell a client whose gate should not be open to give way, without waiting for it."""
    state = roster.state
    if client.state is not State.RUNNING:
        return []
    roster.move(client, Step.REVOKE, now)
    roster.go_on_without(client)
    text = (
        "says again that it holds a turn: it is told to give way, and other programs do not wait "
        "for it"
    )
    return [
        revoke_now(client),
        Report(ReportKind.OVERDUE, state.id, client.id, text),
    ]


def _overdue(state: DeviceState, client: Client, patience: float) -> Report:
    text = (
        f"has not given up its turn within {patience:g} s; other programs go on without it, "
        f"beside {client.memory.resident} bytes that it may still have on the GPU"
    )
    return Report(ReportKind.OVERDUE, state.id, client.id, text)
