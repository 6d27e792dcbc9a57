"""All of a gang wait at the same place in the queues of their devices.

As soon as one client of a gang without turns wants one, all of it wait. Their places are made
equal: the rank of the client that was served longest ago, and the lowest of their priorities.
"""

from nvshare.core.client import BEST_STANDING, Client, Park
from nvshare.core.credit import earn, has_claim
from nvshare.core.gangs.gang import Change, Gang, Member
from nvshare.core.lease import Step
from nvshare.core.priority import is_starving


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
        earn(client, device.roster, device.state.settings, now)
        client.claims = has_claim(client, device.state, device.roster, now)
        device.roster.move(client, Step.WANT, now)
        change.add(device)
    _make_equal(gang.waiting, now, change)
    return change


def _make_equal(waiting: list[Member], now: float, change: Change) -> None:
    like = _common_place([member.client for member in waiting])
    if any(_starves(member, now) for member in waiting):
        like.standing = BEST_STANDING
    for device, client in waiting:
        if client.place[:3] != like.place[:3]:
            device.roster.set_place(client, like)
            change.add(device)


def _common_place(clients: list[Client]) -> Client:
    """Return a made-up client with the place that all of them are to have."""
    same = len({client.standing for client in clients}) == 1
    lasted = [client.interrupted for client in clients if client.interrupted is not None]
    return Client(
        0,
        gang=clients[0].gang,
        standing=max((one.standing if same else one.usual_standing) for one in clients),
        rank=min(client.rank for client in clients),
        claims=all(client.claims for client in clients),
        is_brief=all(client.is_brief for client in clients),
        interrupted=max(lasted) if lasted else None,
    )


def _starves(member: Member, now: float) -> bool:
    return is_starving(member.client, member.device.state.settings, member.device.roster, now)


def note_stalled(gang: Gang) -> Change:
    """Note clients that wait for a member of their gang that could not run if all gave way.

    They do not become the head, so that others can take turns meanwhile.
    """
    change, waiting = Change(), gang.waiting
    stuck = {member.client.id for member in waiting if not _could_be_head(member)}
    for device, client in waiting:
        stalled = bool(stuck - {client.id})
        if stalled is not client.stalled:
            client.stalled = stalled
            change.add(device)
    return change


def _could_be_head(member: Member) -> bool:
    device, client = member
    if client.is_barred:
        return False
    return device.roster.everything_fits or device.scheduler.could_be_head(client)
