"""Who is idle in its gang's turn keeps its place, until all of its gang are.

It was asked to give way when idle, and has: its gate is closed. To the core it still runs, so that
nobody takes its place and its memory stays; it is only granted anew as soon as it wants to go on.
A rank that has run out of work is often just waiting for the others of its collective.
"""

from nvshare.core.effects import Grant
from nvshare.core.gangs.gang import Change, Gang, Member
from nvshare.core.moves import fill_order


def attend_rests(gang: Gang, now: float) -> Change:
    """Have those go on who want to; and have a gang give its turn up if all of it rest."""
    change = Change()
    if gang.yielding:
        return change
    running = gang.running
    for member in running:
        if member.client.rests and member.client.wants:
            change.take(go_on(member, now))
    if all(member.client.rests for member in running):
        for device, client in running:
            device.end_rest(client, now)
            change.add(device)
    return change


def go_on(member: Member, now: float) -> Change:
    """Open the gate of one that kept its place."""
    change = Change()
    device, client = member
    if client.soft_revoked:
        device.roster.keep(client, now)
    client.turn = device.state.number_turn()
    client.rests = client.wants = False
    client.granted_at = client.worked_at = now
    fill = fill_order(client, device.roster.room)
    change.add(device, Grant(client.id, client.turn, fill))
    return change
