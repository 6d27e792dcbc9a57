"""Hand-overs: the holder of a turn wakes the next client itself, without asking the daemon."""

from dataclasses import replace

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import (
    CancelHandover,
    Effect,
    Handover,
)
from nvshare.core.host.admit import running_admits
from nvshare.core.lease import State
from nvshare.core.moves.sizes import fill_order, missing_bytes
from nvshare.core.record.client import Client


def plan_handover(roster: Roster) -> list[Effect]:
    """Tell the holder to wake the head itself, if it is the only client in the head's way."""
    state = roster.state
    plan = _handover(roster)
    if plan == state.handover or _differs_in_room_only(plan, state.handover):
        return []
    old, state.handover = state.handover, plan
    if plan:
        return [plan]
    if old and _could_still_happen(old, roster):
        return [CancelHandover(old.from_client, old.from_turn)]
    return []


def _handover(roster: Roster) -> Handover | None:
    state = roster.state
    head = None if state.head is None else roster.clients[state.head]
    holder = _only_obstacle(head, roster) if head else None
    if not head or not holder:
        return None
    if head.in_gang or holder.in_gang:
        # Turns of a gang change on several devices at once.
        return None
    turn = head.turn.promise(state.number_turn()) if head.turn.next is None else head.turn.next
    filled, missing = fill_order(head, roster.room), missing_bytes(roster, head)
    return Handover(holder.id, holder.turn.number, head.id, turn, filled, missing)


def _differs_in_room_only(plan: Handover | None, old: Handover | None) -> bool:
    """Whether the standing order is good enough: Room tells in time what room is missing."""
    return plan is not None and old is not None and replace(plan, missing=old.missing) == old


def _only_obstacle(head: Client, roster: Roster) -> Client | None:
    if running_admits(roster, head):
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
    kept = holder.state is State.RUNNING and not holder.turn.soft_revoked
    held = holder.has_turn and holder.turn.number == handover.from_turn
    return held and not kept and next_client.turn.next == handover.turn
