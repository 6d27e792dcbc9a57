"""Held clients of a gang catch up, call by call, while others of it have not drained.

Clients of the gang that wait for their first turn beside it may be behind as well: a rank that has
come to a full device. If the others do not drain within a while, such clients are let in, told to
hold at once, and catch up like the rest. Otherwise the gang would wait for a rank that waits for
the gang.

A call may need memory that has no room, because its rank has grown and was told to give way for
that. Then the clients that run beside it move as much out first. Two gangs can have begun the other
way round on two devices: the client that runs here has also launched its part of a collective, and
waits for a rank that has no room because of this gang. Its work before that ends within a while;
from then on its memory is of no use to it. If it moved out earlier, both would fetch the same
memory again and again, page by page. So the others first get that while, and then the time to move
out. They are told when they can have their memory back (moves/room.py).
"""

from typing import TYPE_CHECKING

from nvshare.core.effects import Effect, Room, StepOnce, Trim
from nvshare.core.gangs.gang import Change, Gang, Member
from nvshare.core.gangs.rest import go_on
from nvshare.core.host.admit import host_lets
from nvshare.core.record.client import Client
from nvshare.core.record.gang import HoldStage
from nvshare.core.turns.admit import grant
from nvshare.core.turns.revoke import catch_up_at, lacks_room_to_step, step_at, tell_to_hold

if TYPE_CHECKING:
    from nvshare.core.device.device import Device

# How long a held client waits for the others before it is told to step. When a collective ends, all
# its ranks report within this time; a rank that stepped earlier could begin the next one.
STEP_PATIENCE = 0.002
# The patience is doubled, up to this, each time that clients have stepped too far by turns. What a
# call launches may take longer on one device than on another, and the rank that has completed its
# part earlier must not begin the next one by then. A rank that is many calls behind steps as often
# without any of the others stepping meanwhile, and waits no longer for each.
LONGEST_PATIENCE = 1.024


def step(gang: Gang, now: float) -> Change:
    """Have held and waiting clients catch up while others have not drained."""
    change, holding = Change(), gang.holding
    late = [member for member in holding if member.client.hold.stage is not HoldStage.HELD]
    change.take(_let_behind_in(gang, late, now))
    held = [member for member in holding if member.client.hold.stage is HoldStage.HELD]
    due = [member for member in held if member.client.hold.waits and _is_due(member, now)]
    if any(_has_gone_too_far(client, late) for _, client in due):
        for _, client in holding:
            client.hold.be_patient(min(2 * client.hold.step_patience, LONGEST_PATIENCE))
    for member in due:
        device, client = member
        if client.gang.rests:
            # A resting client has no turn to step in.
            change.take(go_on(member, now))
            client.hold.go_back(now)
            change.add(device, *tell_to_hold(client))
        elif client.hold.room_asked_at is None and lacks_room_to_step(device.roster, client):
            client.hold.ask_room(now)
            change.add(device, *_make_room(device, client))
        else:
            client.hold.step(now)
            room = [Room(client.id, client.turn.number, 0)] if client.memory.swapped else []
            change.add(device, *room, StepOnce(client.id, client.turn.number))
    return change


def _let_behind_in(gang: Gang, late: list[Member], now: float) -> Change:
    """Let waiting clients in, to hold at once, if the late ones have had time to drain."""
    change = Change()
    behind = [member for member in gang.waiting if _may_come_in(member)]
    for device, client in late:
        if client.hold.awaits_ranks != bool(behind):
            client.hold.note_ranks(waiting=bool(behind))
            change.add(device)
    if any(now >= catch_up_at(client) for _, client in late):
        for device, client in behind:
            order = grant(device.roster, client, now, is_guest=True)
            device.roster.tell_to_go(client, now)
            change.add(device, order, *tell_to_hold(client))
    return change


def _may_come_in(member: Member) -> bool:
    """Whether a client may be let in: its calls push out memory of others, if the host has room."""
    device, client = member
    state, roster = device.state, device.roster
    return state.is_open and not client.is_barred and host_lets(roster, client)


def _make_room(device: "Device", client: Client) -> list[Effect]:
    """Have running clients move out what a client needs to step, as far as they can."""
    roster, state = device.roster, device.state
    allowance, lenders = roster.host.allowance(), dict.fromkeys(state.lenders)
    lacking = lacks_room_to_step(roster, client)
    effects: list[Effect] = []
    for one in list(roster.running.values()):
        most = 0 if one.kind.is_copied else one.present - one.excess.trims
        trims = allowance.take(one, min(lacking, most))
        if trims > 0:
            lacking -= trims
            roster.set_trims(one, one.excess.trims + trims)
            effects.append(Trim(one.id, trims))
            lenders[one.id] = None
    state.lenders = tuple(lenders)
    return effects


def _has_gone_too_far(client: Client, late: list[Member]) -> bool:
    """Whether a client has stepped, and those that it waits for have done so after that."""
    stepped = client.hold.stepped_at
    if not stepped:
        return False
    return all(one.hold.stage is HoldStage.STEPS and one.hold.since > stepped for _, one in late)


def _is_due(member: Member, now: float) -> bool:
    return now >= step_at(member.device.roster, member.client)
