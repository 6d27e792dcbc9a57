"""Who may go on growing where the host is short, so that there is always one who can end.

The trouble. What has left a device keeps its pages on the host until its owner frees it
(hostroom.py). Programs that all grow at the same time, and take turns meanwhile, fill the host with
pages of one another. Each piece that they ask for is one that fits, until somebody asks for a piece
with which it could not run beside what cannot leave any more. If then nobody else can run either,
all that is left is to refuse it, though all of them would have ended well one after the other.

The rule. Somebody who grows is let run, and lets its new memory be used, only if afterwards there
is an order in which all can end: one after the other, each beside what the others have used by
then, each with the memory that it may still need. Who ends frees its pages, which is why one at a
time has to be looked at. (It is the rule of a banker who lends only what he can still get back.)
Otherwise it waits until somebody ends, as one who is held up does. What it was given and has not
used is nowhere: it takes nothing from anybody, and so nobody has to be refused memory for this.

How much somebody may still need, nobody knows. A program that has gained memory, and then held a
turn for half as long as a turn lasts without gaining any more, is taken to have grown: it needs
what it has. Anybody else is growing, and may need all of the device: beside it nothing of the
others may be stuck. So one who could be the first to end is never in want of memory that the device
has. The others, by waiting, see to that: they use no more than they do, and make it move no more
out than it can take back in.

What may have to leave. Those who are let run push others out, and that takes pages. Of which of the
others is decided later, so each is taken to lose as much as it could: if it is still able to be the
first to end then, it is so in any case.

Where it ends. Nobody waits for a program that has had nothing to run for some seconds, or that is
parked by hand: it may rest for hours, and is not one who could be the first to end. And where there
is no such order already (the host was made smaller; programs came with their memory from an earlier
daemon; one that was taken to have grown grows again) the rule forbids nothing: those run who can,
and memory may have to be refused (host.py). Each device is looked at for itself, with what the host
has left for it. While the host can hold everything that there is, everybody may grow, and nothing
is looked at.
"""

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING

from nvshare.core.client import Client
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.settings import Settings

if TYPE_CHECKING:
    from nvshare.core.fitting import Fitting

Group = Mapping[int, Client]

# Nobody waits for one who has had nothing to run for so many seconds. It takes milliseconds from
# the end of a turn until a program comes to its gate again.
ABSENCE = 5.0


def calm_seconds(settings: Settings) -> float:
    """Return for how long a client holds a turn, and gains nothing, that has grown."""
    return (settings.turn_seconds or settings.turn_min) / 2


def note_calm(settings: Settings, clients: Iterable[Client], now: float) -> None:
    """See who has grown by now, and who has been absent for long."""
    for client in clients:
        rests = client.state is State.IDLE and now >= client.since + ABSENCE
        client.absent = client.is_barred or rests
        if client.growing and now >= _calm_at(settings, client):
            client.growing = False


def next_calm(settings: Settings, clients: Iterable[Client]) -> float:
    """Return when that changes, if nothing happens until then."""
    moments = [inf]
    for client in clients:
        moments.append(_calm_at(settings, client) if client.growing else inf)
        if client.state is State.IDLE and not client.absent:
            moments.append(client.since + ABSENCE)
    return min(moments)


def _calm_at(settings: Settings, client: Client) -> float:
    return client.calm_since + calm_seconds(settings) if client.state is State.RUNNING else inf


def is_held_back(roster: "Fitting", client: Client) -> bool:
    """Whether a client that waits could run, and may not."""
    return not roster.host_lets(client) and roster.has_room_for({client.id: client})


def leaves_hope(roster: "Fitting", together: Group) -> bool:
    """Whether these may run, with all that they have. Only who grows could take anybody's hope.

    Who has grown and is let run can end by itself: what cannot leave fits beside it.
    """
    grow = (one for one in together.values() if one.growing)
    if roster.everything_fits or not any(
        one.grown or one.state is not State.RUNNING for one in grow
    ):
        return True
    return _all_can_end(roster, together) or not _all_can_end(roster, {})


def may_hope(roster: "Fitting", client: Client, memory: Memory) -> bool:
    """Whether a client could run some day if it had this memory: now, or when others have ended.

    As things are, that is: the others are taken to have grown.
    """
    gone: dict[int, Client] = {}
    room = roster.room + client.memory.pinned - memory.pinned
    while roster.host.is_tight:
        stuck = _stuck(roster, client, {}, gone)
        if not stuck or memory.swappable + stuck <= room:
            return True
        for one in roster.clients.values():
            if one is client or one.id in gone:
                continue
            # Who is giving way holds its turn for a moment only.
            if one.state is State.RUNNING or _has_room(roster, one, {}, gone):
                gone[one.id] = one
                room += one.memory.pinned
                break
        else:
            return False
    return True


def _all_can_end(roster: "Fitting", together: Group) -> bool:
    """Whether there is an order in which all can end, if these have run before."""
    gone: dict[int, Client] = {}
    rest = [client for client in roster.clients.values() if not client.absent]
    while rest:
        able = next((one for one in rest if _can_end(roster, one, together, gone)), None)
        if able is None:
            return False
        gone[able.id] = able
        rest.remove(able)
    return True


def _can_end(roster: "Fitting", client: Client, together: Group, gone: Group) -> bool:
    """Whether a client could be the next to end, with all that it may need."""
    if client.growing:
        return not _stuck(roster, client, together, gone)
    return _has_room(roster, client, together, gone)


def _has_room(roster: "Fitting", client: Client, together: Group, gone: Group) -> bool:
    """Whether it could run with what it has, after these."""
    stuck = _stuck(roster, client, together, gone)
    room = roster.room + sum(one.memory.pinned for one in gone.values())
    return not stuck or client.memory.swappable + stuck <= room


def _stuck(roster: "Fitting", client: Client, together: Group, gone: Group) -> int:
    """Return what of the others could not leave for it."""
    allowance = roster.host.allowance(gone.values())
    if client.id not in together:
        allowance.take(client, min(client.inside, _pushed_out(roster, together)))
    others = (one for one in roster.clients.values() if one is not client and one.id not in gone)
    sizes = ((one, _used(one, together)) for one in others)
    return sum(size - allowance.take(one, size) for one, size in sizes)


def _pushed_out(roster: "Fitting", together: Group) -> int:
    """Return how much has to leave before these can run."""
    if not together:
        return 0
    used = sum(_used(client, together) for client in roster.clients.values())
    returning = sum(client.hosted for client in together.values())
    return max(0, used + returning - roster.room)


def _used(client: Client, together: Group) -> int:
    """Return what of a client's memory is on the device and may have to leave, after these ran."""
    if client.id in together:
        # What is on the host comes back, and can leave again.
        return client.memory.swappable - client.hosted - client.leaving
    if client.state is State.RUNNING:
        return max(0, client.inside - client.grown)
    return client.inside
