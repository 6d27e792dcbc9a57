"""All of a gang wait at the same place in the queues of their devices.

As soon as one client of a gang without turns wants one, all of it wait. Their places are made
equal: that of the one that would come first. The gang pays a visit if all of it do.
"""

from nvshare.core.gangs.gang import Change, Gang, Member
from nvshare.core.lease import Step
from nvshare.core.precedence.interrupt import come
from nvshare.core.record.client import Park
from nvshare.core.record.precedence import Precedence
from nvshare.core.turns.head import could_be_head


def queue_up(gang: Gang, now: float) -> Change:
    """Have all of a gang wait, at the same place, if one of them waits.

    A client that joins a gang that holds turns waits alone, until these are given up.
    """
    change = Change()
    if not gang.waiting:
        return change
    for device, client in gang.idle if gang.is_off else []:
        if client.park is Park.IDLE:
            device.roster.set_park(client, None, now)
        come(device.roster, client, now)
        device.roster.move(client, Step.WANT, now)
        change.add(device)
    _make_equal(gang.waiting, change)
    return change


def _make_equal(waiting: list[Member], change: Change) -> None:
    like = _common_place(waiting)
    for device, client in waiting:
        if (client.precedence.bursts, client.precedence.rank) != (like.bursts, like.rank):
            device.roster.set_place(client, like)
            change.add(device)


def _common_place(waiting: list[Member]) -> Precedence:
    """Return the place that all of them are to have: that of the one that would come first."""
    parts = [client.precedence for _, client in waiting]
    bursts = all(one.bursts for one in parts)
    lasted = [one.interrupted for one in parts if one.interrupted is not None]
    return Precedence(
        rank=min(device.roster.rank_of(client, bursts=bursts) for device, client in waiting),
        visits=all(one.visits for one in parts),
        bursts=bursts,
        interrupted=max(lasted) if lasted else None,
    )


def note_stalled(gang: Gang) -> Change:
    """Note clients that wait for a member of their gang that could not run if all gave way.

    They do not become the head, so that others can take turns meanwhile.
    """
    change, waiting = Change(), gang.waiting
    stuck = {member.client.id for member in waiting if not _could_be_head(member)}
    for device, client in waiting:
        stalled = bool(stuck - {client.id})
        if stalled is not client.gang.stalled:
            client.gang.note_stalled(stalled=stalled)
            change.add(device)
    return change


def _could_be_head(member: Member) -> bool:
    device, client = member
    if client.is_barred:
        return False
    return device.roster.everything_fits or could_be_head(device.roster, client)
