"""When a turn ends that somebody waits for, unless it is interrupted (claims.py)."""

from math import inf

from nvshare.core.client import Client
from nvshare.core.priority import is_outranked, outranks
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState


def turn_end(state: DeviceState, roster: Roster, head: Client) -> float:
    """Return when the present turn ends for the head; never: infinity."""
    is_steady = roster.regime.is_steady(roster)
    if is_steady is not state.is_steady:
        state.is_steady, state.deadline = is_steady, None
    if len(roster.classes) > 1:
        # It depends on who runs, which changes.
        state.deadline = _ranked_end(state, roster, head)
    elif state.deadline is None or state.deadline == inf:
        # Or those who went before the head, whose turn had no end for it, are of its priority by
        # now.
        state.deadline = state.turn_started + _length(state, roster, head)
    return state.deadline


def _ranked_end(state: DeviceState, roster: Roster, head: Client) -> float:
    """Nobody ends the turn of one who goes before it; and who goes before others need not wait.

    Except for memory to be moved: that has to be worth while. Who has interrupted this very turn
    before, by its priority alone, does not gain by what the turn had lasted then.
    """
    if is_outranked(head, roster):
        return inf
    if not outranks(head, roster):
        return state.turn_started + _length(state, roster, head)
    began = state.turn_started
    if not head.claims:
        began = max(began, head.served_at)
    return began + roster.regime.least_turn(state.settings)


def _length(state: DeviceState, roster: Roster, head: Client) -> float:
    length = roster.regime.turn_seconds(state, roster, head)
    return length if state.turn_limit is None else min(length, state.turn_limit)


def keep_turn(state: DeviceState, now: float, fill: float) -> None:
    """Have a turn last for twice as long as the memory takes that it begins with.

    A turn that ended before would be for nothing, and so would the next one.
    """
    if fill > 0:
        until = now + min(2 * fill, state.settings.longest_turn)
        state.kept_until = max(state.kept_until, until)


def fill_seconds(state: DeviceState, client: Client) -> float:
    """Say how long it takes until others have moved out for a client, and its memory is in."""
    memory, pace = client.memory, state.pace
    fill = memory.swapped - memory.untouched
    return pace.swap_seconds(client.missing, 0) + pace.swap_seconds(0, fill)


def lengthen_turn(state: DeviceState, roster: Roster, now: float) -> None:
    """Have a turn for which others move memory out last until that was worth while.

    Somebody may have grown at the end of its turn, and would have to give way at once.
    """
    settings = state.settings
    if state.deadline is None or settings.turn_seconds is not None:
        return
    moved = roster.leaving_bytes + roster.outbound_bytes
    pays = now + settings.turn_multiplier * state.pace.swap_seconds(moved, 0)
    latest = state.turn_started + settings.longest_turn
    state.deadline = max(state.deadline, min(pays, latest))
