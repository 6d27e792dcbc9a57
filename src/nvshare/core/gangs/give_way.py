"""How a gang gives its turns up: all members hold, and when all do, all are told to give way.

A client that was told to hold closes its gate, and reports when nothing is in flight. Another rank
may wait for a rank that has closed its gate before it came to the same collective. So while some
are held and others are not, the held clients with a thread at the gate are told to let one call
pass (step.py).
"""

from typing import TYPE_CHECKING

from nvshare.core.effects import Effect
from nvshare.core.gangs.gang import Change, Gang, Member, by_device
from nvshare.core.gangs.step import STEP_PATIENCE, step
from nvshare.core.host.admit import host_lets_all
from nvshare.core.lease import Step
from nvshare.core.memory import Load
from nvshare.core.moves.sizes import choose_way, outgoing_bytes
from nvshare.core.record.client import Client, Park
from nvshare.core.record.gang import HoldStage
from nvshare.core.turns.orders import keep, revoke_now
from nvshare.core.turns.revoke import revoke, tell_to_hold

if TYPE_CHECKING:
    from nvshare.core.clients.roster import Roster
    from nvshare.core.device.device import Device


def give_way(gang: Gang, now: float) -> Change:
    """Have all of a gang hold if one of them does, and give way when all hold."""
    change = _try_again(gang)
    if _is_going(gang) and not gang.holding:
        # One of them was told to give way before it was in the gang. So all give way.
        change.take(hold(gang, now))
    if not gang.holding:
        return change
    retries = [
        member.client.drain.retry_at for member in gang.running if member.client.drain.undrained
    ]
    if retries:
        return _keep(gang, now, max(retries))
    change.take(_hold_all(gang, now))
    if not _is_needed(gang):
        change.take(_keep(gang, now))
    elif all(member.client.hold.stage is HoldStage.HELD for member in gang.holding):
        change.take(_let_go(gang, now))
    else:
        change.take(step(gang, now))
    return change


def _try_again(gang: Gang) -> Change:
    """Let all be told to hold again once those that could not drain may be (turns/undrained.py)."""
    change = Change()
    alone = [member for member in gang.running if member.client.drain.undrained]
    if all(member.client.drain.failing_since is None for member in alone):
        for device, client in alone:
            client.drain.retry(0.0)
            device.roster.set_undrained(client, False)
            change.add(device)
    return change


def hold(gang: Gang, now: float) -> Change:
    """Tell the running clients of a gang to hold."""
    change = Change()
    for device, client in gang.running:
        if not client.drain.undrained:
            change.take(_hold_one(Member(device, client), now))
    return change


def _hold_all(gang: Gang, now: float) -> Change:
    change = hold(gang, now)
    for _, client in gang.holding:
        client.hold.be_patient(client.hold.step_patience or STEP_PATIENCE)
    return change


def _hold_one(member: Member, now: float) -> Change:
    change = Change()
    device, client = member
    device.roster.tell_to_go(client, now)
    change.add(device, *tell_to_hold(client))
    return change


def _is_needed(gang: Gang) -> bool:
    """Whether their places are still needed."""
    if (
        gang.waiting
        or _is_going(gang)
        or any(device.state.head is not None for device in gang.devices)
    ):
        return True
    if any(member.client.park is Park.BY_HAND for member in gang.members):
        return True
    return not all(_would_fit(member.device.roster, gang) for member in gang.holding)


def _is_going(gang: Gang) -> bool:
    """Whether one of them was told to give way, and not only to hold."""
    return any(member.client.hold.stage is None for member in gang.yielding)


def _would_fit(roster: "Roster", gang: Gang) -> bool:
    load = Load(roster.running_load.weight, roster.running_load.heavy)
    here = {client.id: client for device, client in gang.holding if device.roster is roster}
    for client in here.values():
        load.add(client.weight)
    return load.fits(roster.capacity) and host_lets_all(roster, roster.running, here)


def _keep(gang: Gang, now: float, retry_at: float | None = None) -> Change:
    """Have the holding clients go on. With a time, none is told to hold again before it."""
    change = Change()
    for device, client in gang.holding:
        roster = device.roster
        roster.move(client, Step.KEEP, now)
        roster.set_unused(client, 0)
        client.precedence.forget_interruption()
        client.turn.note_slice(sliced=False)
        client.hold.be_patient(0.0)
        if retry_at is not None:
            roster.set_undrained(client, True)
            client.drain.retry(retry_at)
        change.add(device, *([] if client.gang.rests else [keep(client)]))
    return change


def _let_go(gang: Gang, now: float) -> Change:
    change = Change()
    for device, clients in by_device(gang.holding):
        roster, going = device.roster, []
        for client in clients:
            client.hold.be_patient(0.0)
            if client.gang.rests:
                device.end_rest(client, now)
            else:
                roster.let_go(client, now)
                going.append(client)
        change.add(device, *_revoke(device, going))
    return change


def _revoke(device: "Device", going: list[Client]) -> list[Effect]:
    """Tell these to give way, and to make room for the next clients."""
    roster = device.roster
    coming = roster.party(device.head) if device.head else []
    outgoing = outgoing_bytes(roster, *coming) if coming else 0
    return revoke(roster, going, outgoing, choose_way(roster, going, coming, outgoing))


def give_up_alone(member: Member, now: float) -> Change:
    """Have a holding or resting client give its turn up that is in no gang any more."""
    change = Change()
    device, client = member
    client.gang.note_stalled(stalled=False)
    client.hold.be_patient(0.0)
    client.hold.note_ranks(waiting=False)
    if client.gang.rests:
        device.end_rest(client, now)
        change.add(device)
    elif client.turn.overdue:
        client.hold.end()
        change.add(device, revoke_now(client))
    elif client.hold.stage is not None:
        device.roster.let_go(client, now)
        change.add(device, *_revoke(device, [client]))
    else:
        change.add(device)
    return change
