"""When the present turn ends for the head, unless it is interrupted (claims.py)."""

from math import inf

from nvshare.core.client import Client
from nvshare.core.priority import is_outranked, outranks
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState


def turn_end(state: DeviceState, roster: Roster, head: Client) -> float:
    """Return when the present turn ends for the head. Infinity: never."""
    is_steady = roster.regime.is_steady(roster)
    if is_steady is not state.is_steady:
        state.is_steady, state.deadline = is_steady, None
    if len(roster.classes) > 1:
        # It depends on the running clients, which change.
        state.deadline = _ranked_end(state, roster, head)
    elif state.deadline is None or state.deadline == inf:
        # Infinity: clients of higher priority ran. By now they have the head's priority.
        state.deadline = state.turn_started + _length(state, roster, head)
    return state.deadline


def _ranked_end(state: DeviceState, roster: Roster, head: Client) -> float:
    """Return when the turn ends where priorities differ.

    A turn of higher priority does not end for the head. A head of higher priority waits only until
    moving memory is worth while. If it has interrupted this same turn before, by its priority
    alone, the time before that does not count.
    """
    if is_outranked(head, roster):
        return inf
    if not outranks(head, roster):
        return state.turn_started + _length(state, roster, head)
    began = state.turn_started
    if not head.claims:
        began = max(began, head.served_at)
    if roster.policy.runs_to_end:
        # A turn that goes on after an interruption began long ago; its memory has just come in.
        began = max([began, *(client.granted_at for client in roster.in_the_way)])
    return began + roster.regime.least_turn(state.settings)


def is_cut_short(state: DeviceState, roster: Roster, head: Client, now: float) -> bool:
    """Whether the head's priority alone ends a turn that was to last until its client's end."""
    if not roster.policy.runs_to_end or not outranks(head, roster):
        return False
    return now < state.turn_started + _length(state, roster, head)


def _length(state: DeviceState, roster: Roster, head: Client) -> float:
    length = roster.regime.turn_seconds(state, roster, head)
    return length if state.turn_limit is None else min(length, state.turn_limit)


def keep_turn(state: DeviceState, now: float, fill: float) -> None:
    """Have a turn last at least twice as long as its memory takes to come in.

    A turn that ended earlier would be wasted, and so would the next one.
    """
    if fill > 0:
        until = now + min(2 * fill, state.settings.longest_turn)
        state.kept_until = max(state.kept_until, until)


def fill_seconds(state: DeviceState, client: Client) -> float:
    """Return how long it takes until others have made room for a client and its memory is in."""
    memory, pace = client.memory, state.pace
    fill = memory.swapped - memory.untouched
    return pace.swap_seconds(client.missing, 0) + pace.swap_seconds(0, fill)


def lengthen_turn(state: DeviceState, roster: Roster, now: float) -> None:
    """Have a turn for which others move memory out last until that is worth while.

    Otherwise a client that grows at the end of its turn would have to give way at once.
    """
    settings = state.settings
    if state.deadline is None or settings.turn_seconds is not None:
        return
    moved = roster.leaving_bytes + roster.outbound_bytes
    pays = now + settings.turn_multiplier * state.pace.swap_seconds(moved, 0)
    latest = state.turn_started + settings.longest_turn
    state.deadline = max(state.deadline, min(pays, latest))
