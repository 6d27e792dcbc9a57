"""When the present turn ends for the head, unless the head interrupts it (precedence/)."""

from nvshare.core.clients.roster import Roster
from nvshare.core.moves.sizes import swap_seconds
from nvshare.core.precedence.charge import use_of
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState
from nvshare.core.record.pace import MULTIPLIER

# As a part of the shortest turn: how long a turn lasts at least where memory moves.
LEAST = 1 / 300
# As a part of the shortest turn, or of a slice: by how much the uses of clients differ that take
# equal turns. One that has used more than that has overrun its turns.
SWING = 0.25


def turn_end(roster: Roster, head: Client) -> float:
    """Return when the present turn ends for the head."""
    state = roster.state
    steady = is_steady(roster)
    if steady is not state.is_steady:
        state.is_steady, state.deadline = steady, None
    if state.deadline is None:
        state.deadline = state.turn_started + _length(roster, head)
    now = state.use_clock.at
    is_over = state.deadline <= now and state.turn_limit is None
    if is_over and not roster.policy.runs_to_end:
        state.deadline = max(state.deadline, _catch_up(roster, head, now))
    return state.deadline


def _are_alike(roster: Roster, head: Client) -> bool:
    """Whether all compute all the time, and weigh the same: then turns are equal."""
    if len(roster.classes) > 1 or head.precedence.bursts:
        return False
    return not any(one.precedence.bursts for one in roster.in_the_way)


def _catch_up(roster: Roster, head: Client, now: float) -> float:
    """Return when the running clients have used as much as the head, within the longest turn."""
    state = roster.state
    longest = state.turn_started + state.settings.longest_turn
    own = use_of(roster, head)
    most = max((use_of(roster, one) for one in roster.in_the_way), default=own)
    turn = roster.usual_turn if roster.regime.is_sliced else state.settings.turn_min
    swing = SWING * turn if _are_alike(roster, head) else 0.0
    if most + swing >= own:
        return now
    step = LEAST * roster.usual_turn
    return min(longest, now + max(own - most, step))


def least_turn(roster: Roster, now: float) -> None:
    """Have a turn last for a moment at least, where memory moves."""
    state = roster.state
    if not roster.regime.is_sliced:
        state.kept_until = max(state.kept_until, now + LEAST * state.settings.turn_min)


def is_steady(roster: Roster) -> bool:
    """Whether all clients that take turns are busy, so that none would notice longer ones.

    A client with a share of compute would: its share is kept over a few turns.
    """
    if roster.with_share or roster.busy < 2:
        return False
    return all(client.work.busy for client in (*roster.in_the_way, *roster.waiting))


def turn_seconds(roster: Roster, head: Client) -> float:
    """Return the length of a turn for this head: long enough that moving memory pays."""
    state = roster.state
    if roster.regime.is_sliced:
        return roster.usual_turn
    if roster.policy.runs_to_end:
        return state.settings.batch_turn
    swap = swap_seconds(roster, head, head.memory.swappable)
    return state.pace.turn_length(state.settings, swap, is_steady=is_steady(roster))


def _length(roster: Roster, head: Client) -> float:
    state = roster.state
    length = turn_seconds(roster, head)
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
    return pace.swap_seconds(client.moving.missing, 0) + pace.swap_seconds(0, fill)


def lengthen_turn(roster: Roster, now: float) -> None:
    """Have a turn for which others move memory out last until that is worth while.

    Otherwise a client that grows at the end of its turn would have to give way at once.
    """
    state = roster.state
    settings = state.settings
    if state.deadline is None or settings.turn_seconds is not None:
        return
    moved = roster.leaving_bytes + roster.outbound_bytes
    pays = now + MULTIPLIER * state.pace.swap_seconds(moved, 0)
    latest = state.turn_started + settings.longest_turn
    state.deadline = max(state.deadline, min(pays, latest))
