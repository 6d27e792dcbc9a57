"""A client that is idle in its gang's turn keeps its place until all of the gang are idle.

It was asked to give way when idle, and has: its gate is closed. To the core it still runs, so that
its place is not taken and its memory stays. It gets a new grant as soon as it wants to go on. A
rank that has run out of work is often just waiting for the others of its collective.
"""

from nvshare.core.gangs.gang import Change, Gang, Member
from nvshare.core.moves.sizes import fill_order
from nvshare.core.turns import orders


def attend_rests(gang: Gang, now: float) -> Change:
    """Have resting clients go on that want to; end the gang's turn if all of it rest."""
    change = Change()
    if gang.yielding:
        return change
    running = gang.running
    for member in running:
        if member.client.gang.rests and member.client.turn.wants:
            change.take(go_on(member, now))
    if all(member.client.gang.rests for member in running):
        for device, client in running:
            device.end_rest(client, now)
            change.add(device)
    return change


def go_on(member: Member, now: float) -> Change:
    """Open the gate of a client that kept its place."""
    change = Change()
    device, client = member
    if client.turn.soft_revoked:
        device.roster.keep(client, now)
    client.turn.go_on(device.state.number_turn(), now)
    client.gang.end_rest()
    client.work.note_work(now)
    fill = fill_order(client, device.roster.room)
    change.add(device, orders.grant(client, fill))
    return change
