"""Which clients may go on growing where the host is short, so that one can always end.

The problem. Memory that has left a device keeps its pages on the host until its owner frees it
(clients/host_room.py). Programs that grow at the same time, and take turns meanwhile, fill the host
with each other's pages. Each allocation fits, until a program asks for one with which it could not
run beside memory that cannot leave any more. If no other program can run either, the allocation has
to be refused, though all of them would have ended well one after the other.

The rule. A growing client may run and use its new memory only if there is afterwards an order in
which all can end: one after the other, each beside what the others have used by then, each with the
memory that it may still need. A client that ends frees its pages, so the clients are checked one by
one. (This is the banker's algorithm: lend only what can still be paid back.) Otherwise the client
waits until another one ends. Memory that it was given and has not used is nowhere: it takes no
room, so no client has to be refused memory for this.

How much a client may still need is unknown. A client that has gained memory, and then held a turn
for half of a turn's length without gaining more, is assumed to have grown: it needs what it has.
But a program may compute for longer than that at each size. So a client that has gained memory more
than once must also have held turns, since it last did, for several times its longest pause so far.
Pauses are measured in time with a turn, too: programs that take turns grow in their turns, and
would otherwise seem to pause while they wait. A client's first pause is unknown until it ends.
Every other client is growing, and may need the whole device: beside it no memory of the others may
be stuck. So a client that could be the first to end never lacks memory that the device has. The
others ensure that by waiting: they use no more than before, and make it move no more out than it
can take back in.

What may have to leave. Clients that may run push others out, and that takes pages. Which of the
others lose memory is decided later, so each is assumed to lose as much as it could: a client that
could still be the first to end then could be so in any case.

Exceptions. A program that has had nothing to run for some seconds, or that is parked by hand, is
not waited for: it may rest for hours, and does not count as able to end. If there is no such order
already, the rule forbids nothing (the host was made smaller; programs came with their memory from
an earlier daemon; one that was assumed to have grown grows again): every client that can run may,
and memory may have to be refused (host/host.py). Each device is checked for itself, with what the
host has left for it. While the host can hold all memory, every client may grow, and nothing is
checked.
"""

from collections.abc import Iterable, Mapping
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client
from nvshare.core.settings import Settings

Group = Mapping[int, Client]

# A client that has had nothing to run for so many seconds is not waited for. A program that goes on
# comes to its gate again within milliseconds of its turn's end.
ABSENCE = 5.0
# A client that has held turns for so many times its longest pause between gains is assumed to gain
# nothing more. A pause may well last five times as long as the one before: the next size may need
# twice the work, and while others compute beside the client, any work takes it longer.
PAUSES = 5
# But it need not be longer than this: a program may have rested for hours in a turn between gains.
LONGEST_CALM = 600.0


def calm_seconds(settings: Settings) -> float:
    """Return for how long in one turn a client gains nothing before it counts as grown."""
    return (settings.turn_seconds or settings.turn_min) / 2


def note_gain(client: Client, before: int, now: float) -> None:
    """Note that a client has more swappable memory than before."""
    client.growth.gain(now, client.held_seconds(now), first=not before)


def note_calm(roster: Roster, now: float) -> None:
    """Note which clients have grown by now, and which have been absent for long."""
    settings, clients = roster.state.settings, roster.clients.values()
    for client in clients if roster.host.is_tight else ():
        rests = client.state is State.IDLE and now >= client.since + ABSENCE
        client.growth.note_absent(absent=client.is_barred or rests)
        if client.growth.growing and now >= _calm_at(settings, client):
            client.growth.stop()


def next_calm(settings: Settings, clients: Iterable[Client]) -> float:
    """Return when that changes next, if no event comes before."""
    moments = [inf]
    for client in clients:
        moments.append(_calm_at(settings, client) if client.growth.growing else inf)
        if client.state is State.IDLE and not client.growth.absent:
            moments.append(client.since + ABSENCE)
    return min(moments)


def _calm_at(settings: Settings, client: Client) -> float:
    """Return when a client that runs on, and gains nothing, counts as grown."""
    if client.state is not State.RUNNING:
        return inf
    # While a rank rests in its gang's turn, the part of the turn before that counts as held.
    began = client.turn.granted_at
    if client.gang.rests and client.rest.since is not None:
        began = client.rest.since
    left = (
        client.growth.gained_at
        + min(PAUSES * client.growth.pace, LONGEST_CALM)
        - client.work.held_before
    )
    return max(client.growth.calm_since + calm_seconds(settings), began + left)


def leaves_hope(roster: Roster, together: Group) -> bool:
    """Whether these may run with all that they have. Only a growing client can break the rule.

    A client that has grown and may run can end by itself: memory that cannot leave fits beside it.
    """
    grow = (one for one in together.values() if one.growth.growing)
    if roster.everything_fits or not any(
        one.growth.grown or one.state is not State.RUNNING for one in grow
    ):
        return True
    return _all_can_end(roster, together) or not _all_can_end(roster, {})


def may_hope(roster: Roster, client: Client, memory: Memory) -> bool:
    """Whether a client with this memory could run now, or after others have ended.

    The others are assumed to have grown.
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
            # A yielding client holds its turn for a moment only.
            if one.state is State.RUNNING or _has_room(roster, one, {}, gone):
                gone[one.id] = one
                room += one.memory.pinned
                break
        else:
            return False
    return True


def _all_can_end(roster: Roster, together: Group) -> bool:
    """Whether there is an order in which all can end, if these have run before."""
    gone: dict[int, Client] = {}
    rest = [client for client in roster.clients.values() if not client.growth.absent]
    while rest:
        able = next((one for one in rest if _can_end(roster, one, together, gone)), None)
        if able is None:
            return False
        gone[able.id] = able
        rest.remove(able)
    return True


def _can_end(roster: Roster, client: Client, together: Group, gone: Group) -> bool:
    """Whether a client could be the next to end, with all that it may need."""
    if client.growth.growing:
        return not _stuck(roster, client, together, gone)
    return _has_room(roster, client, together, gone)


def _has_room(roster: Roster, client: Client, together: Group, gone: Group) -> bool:
    """Whether a client could run with the memory that it has, after these."""
    stuck = _stuck(roster, client, together, gone)
    room = roster.room + sum(one.memory.pinned for one in gone.values())
    return not stuck or client.memory.swappable + stuck <= room


def _stuck(roster: Roster, client: Client, together: Group, gone: Group) -> int:
    """Return the bytes of the others that could not leave for a client."""
    allowance = roster.host.allowance(gone.values())
    if client.id not in together:
        allowance.take(client, min(client.inside, _pushed_out(roster, together)))
    others = (one for one in roster.clients.values() if one is not client and one.id not in gone)
    sizes = ((one, _used(one, together)) for one in others)
    return sum(size - allowance.take(one, size) for one, size in sizes)


def _pushed_out(roster: Roster, together: Group) -> int:
    """Return how much has to leave before these can run."""
    if not together:
        return 0
    used = sum(_used(client, together) for client in roster.clients.values())
    returning = sum(client.hosted for client in together.values())
    return max(0, used + returning - roster.room)


def _used(client: Client, together: Group) -> int:
    """Return a client's bytes that are on the device and may have to leave, after these ran."""
    if client.id in together:
        # Memory that is on the host comes back, and can leave again.
        return client.memory.swappable - client.hosted - client.leaving
    if client.state is State.RUNNING:
        return max(0, client.inside - client.growth.grown)
    return client.inside
