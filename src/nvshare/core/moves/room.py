"""Room for clients that bring memory in: how much others have still to make, told as they do.

The driver's count of free memory is no help: to the driver, memory that a client has moved to the
host stays that client's until another one takes it. The clients' own reports count instead. They
report while they move, so that one client fills as fast as the other leaves. A faster one would
push out memory that was to stay.

A client that has no context yet, because the device is full of memory that no driver pushes out,
waits for room in the same way. It has no turn, and is told once: when there is room for all memory.

A client that is to move out may be stopped, or stuck. When nothing has moved for ``PATIENCE``,
it is not waited for any longer: then the driver makes room, more slowly, by pushing out the oldest
memory. A gang that was told to hold (gangs/) moves nothing before all of it holds. This patience
does not apply to it; ``revoke_patience`` does.
"""

from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Answer, Effect, Room
from nvshare.core.record.client import in_order
from nvshare.core.record.device import DeviceState

# How long clients that bring memory in wait for others to make room while nothing moves. Clients
# report several times a second while they move. Waiting for a stopped one takes the device's time,
# and going on without room costs no more than the driver's own, slower moves.
PATIENCE = 1.0


def tell_room(roster: Roster, now: float) -> list[Effect]:
    """Tell clients that bring memory in how much of it has no room, where that has changed.

    The number only falls: what later clients need is not missing to earlier ones.
    """
    _be_patient(roster, now)
    effects: list[Effect] = []
    for client in in_order(roster.cramped.values()):
        missing = min(client.moving.missing, roster.missing)
        if missing != client.moving.told_missing:
            effects.append(Room(client.id, client.turn.number, missing))
        roster.set_missing(client, missing, missing)
    effects += _give_back(roster)
    if roster.newcomers and _has_room_for_contexts(roster):
        for client in in_order(roster.newcomers.values()):
            effects.append(Answer(client.id, client.moving.awaits_room))
            roster.await_room(client, 0)
    return effects


def _give_back(roster: Roster) -> list[Effect]:
    """Tell clients whose memory has left in their own turns when there is room for it again.

    They made room (gangs/step.py), or others have pushed it out (turns/drain.py). Memory that they
    use would come by itself, but page by page.
    """
    state = roster.state
    yielding = roster.yielding.values()
    if not state.lenders or roster.lacking or any(one.hold.room_asked_at for one in yielding):
        return []
    lenders = [
        one for one in map(roster.running.get, state.lenders) if one and not one.moving.missing
    ]
    state.lenders = ()
    return [Room(client.id, client.turn.number, 0) for client in lenders]


def _has_room_for_contexts(roster: Roster) -> bool:
    """Whether a context may be tried. Clients that were told to give way are waited for.

    Nothing moves before they have, and that may take longer than ``PATIENCE``.
    """
    return not roster.missing and not (roster.lacking and roster.yielding)


def patience_ends(state: DeviceState) -> float:
    """Return when clients that wait for room are told to go on without it."""
    if state.room_since is None or state.room_waived:
        return inf
    return state.room_since + PATIENCE


def _be_patient(roster: Roster, now: float) -> None:
    state = roster.state
    waits = roster.cramped or (roster.newcomers and not roster.yielding)
    lacking = roster.lacking if waits else 0
    holds = any(client.hold.stage is not None for client in roster.yielding.values())
    if not lacking or holds:
        state.room_since, state.room_waived = None, False
    elif state.room_since is None or lacking < state.room_lacking:
        state.room_since, state.room_waived = now, False
    elif now >= patience_ends(state):
        state.room_waived = True
    state.room_lacking = lacking
