"""What follows from which clients run and wait: memory to move, hand-overs, timers.

device/scheduler.py decides which clients run. These functions only compare the orders that should
stand with the last ones, and order the difference.
"""

from dataclasses import replace
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import (
    CancelHandover,
    CancelTimer,
    Effect,
    Handover,
    SetTimer,
    Trim,
)
from nvshare.core.events import Timer, TimerKind
from nvshare.core.host.safe_order import is_held_back, next_calm
from nvshare.core.lease import State
from nvshare.core.moves.evict import evict, evict_in_turn
from nvshare.core.moves.room import patience_ends
from nvshare.core.moves.sizes import fill_order, missing_bytes
from nvshare.core.record.client import Client, in_order
from nvshare.core.record.device import DeviceState
from nvshare.core.shares.shares import next_check
from nvshare.core.turns.drain import next_help
from nvshare.core.turns.park import next_look
from nvshare.core.turns.revoke import next_step, waited_for_until
from nvshare.core.turns.undrained import next_try


def make_room(roster: Roster) -> list[Effect]:
    """Have clients that do not run make room for the running ones.

    Idle clients come first, beginning with the longest idle; then waiting clients, beginning with
    the one that will run last.
    """
    if not roster.regime.takes_turns or roster.overcommit <= 0 or roster.closed_bytes == 0:
        return []
    return evict_in_turn(roster, sorted(roster.closed.values(), key=_use), roster.overcommit)


def move_over_limit_out(roster: Roster) -> list[Effect]:
    """Have clients move out their memory beyond their limits."""
    effects: list[Effect] = []
    for client in in_order(roster.over.values()):
        if client.state is State.RUNNING:
            effects += _trim(roster, client)
        elif client.id in roster.closed:
            beyond = client.over_limit - client.memory.swapped - client.leaving
            effects += evict(roster, client, min(client.staying, beyond))
    return effects


def _trim(roster: Roster, client: Client) -> list[Effect]:
    most = min(client.over_limit, client.memory.swappable)
    more = roster.host.allowance().take(client, most - client.trimmed)
    client.trimmed = min(client.trimmed + more, client.over_limit)
    if not more:
        return []
    roster.set_trims(client, client.trims + more)
    return [Trim(client.id, more)]


def _use(client: Client) -> tuple[float, ...]:
    if client.state is State.WAITING:
        return True, *(-part for part in client.place)
    return False, client.since, client.order


def plan_handover(state: DeviceState, roster: Roster) -> list[Effect]:
    """Tell the holder to wake the head itself, if it is the only client in the head's way."""
    plan = _handover(state, roster)
    if plan == state.handover or _differs_in_room_only(plan, state.handover):
        return []
    old, state.handover = state.handover, plan
    if plan:
        return [plan]
    if old and _could_still_happen(old, roster):
        return [CancelHandover(old.from_client, old.from_turn)]
    return []


def _handover(state: DeviceState, roster: Roster) -> Handover | None:
    head = None if state.head is None else roster.clients[state.head]
    holder = _only_obstacle(head, roster) if head else None
    if not head or not holder:
        return None
    if head.gang is not None or holder.gang is not None:
        # Turns of a gang change on several devices at once.
        return None
    if head.next_turn is None:
        head.next_turn = state.number_turn()
    filled, missing = fill_order(head, roster.room), missing_bytes(state, roster, head)
    return Handover(holder.id, holder.turn, head.id, head.next_turn, filled, missing)


def _differs_in_room_only(plan: Handover | None, old: Handover | None) -> bool:
    """Whether the standing order is good enough: Room tells in time what room is missing."""
    return plan is not None and old is not None and replace(plan, missing=old.missing) == old


def _only_obstacle(head: Client, roster: Roster) -> Client | None:
    if roster.running_admits(head):
        obstacles = roster.yielding
    elif not roster.yielding and roster.running_load.heavy == 1:
        obstacles = roster.soft_revoked
    else:
        return None
    return next(iter(obstacles.values())) if len(obstacles) == 1 else None


def _could_still_happen(handover: Handover, roster: Roster) -> bool:
    # Keep takes a hand-over back as well. One to a client that runs or has left does nothing.
    holder = roster.clients.get(handover.from_client)
    next_client = roster.clients.get(handover.to_client)
    if not holder or not next_client:
        return False
    kept = holder.state is State.RUNNING and not holder.soft_revoked
    held = holder.holds and holder.turn == handover.from_turn
    return held and not kept and next_client.next_turn == handover.turn


def set_alarms(state: DeviceState, roster: Roster, now: float) -> list[Effect]:
    """Have exactly the needed timers run."""
    wanted = _alarms(state, roster, now)
    effects: list[Effect] = [
        CancelTimer(Timer(state.id, kind)) for kind in state.alarms if kind not in wanted
    ]
    for kind, at in wanted.items():
        if state.alarms.get(kind) != at:
            effects.append(SetTimer(Timer(state.id, kind), at))
    state.alarms = wanted
    return effects


def _alarms(state: DeviceState, roster: Roster, now: float) -> dict[TimerKind, float]:
    if now < state.reconnect_until:
        return {TimerKind.RECONNECT: state.reconnect_until}
    alarms = {}
    if (back := next_check(roster)) is not None:
        alarms[TimerKind.SHARE] = back
    if (patience := waited_for_until(state, roster)) < inf:
        alarms[TimerKind.PATIENCE] = patience
    if state.head is not None and state.deadline is not None:
        end = max(min(state.deadline, state.interrupt_at or inf), state.kept_until)
        # A client of a gang may then have to wait for the end of a turn on another device.
        is_due = now >= end and roster.clients[state.head].gang is not None
        alarms |= {TimerKind.TURN: end} if end < inf and not is_due else {}
    if (steps := next_step(roster)) < inf:
        alarms[TimerKind.STEP] = steps
    if (helps := next_help(roster)) < inf:
        alarms[TimerKind.DRAIN] = helps
    if (waived := patience_ends(state)) < inf:
        alarms[TimerKind.ROOM] = waived
    if state.is_held_up and any(is_held_back(roster, client) for client in roster.waiting):
        calm = next_calm(state.settings, roster.clients.values())
        alarms |= {TimerKind.GROWTH: calm} if calm < inf else {}
    if (tries := next_try(roster)) < inf:
        alarms[TimerKind.UNDRAINED] = tries
    if (parks := next_look(state, roster, now)) < inf:
        alarms[TimerKind.PARK] = parks
    return alarms
