"""Clients that hold turns and do not fit together: their work in flight pages, and hardly ends.

That happens where they ran without a daemon for long, or one has grown. Those that are told to give
way (turns/split.py) close their gates, but every kernel in flight has to fetch its memory page by
page, and the others take it away again: instead of milliseconds it runs for tens of seconds.

So one of them at a time is told to bring all its memory in, in bulk, and again and again: memory
that has just been asked for is the last that a driver pushes out. Its kernels end soon, and then it
is the next one's turn. The patience with those that wait for that has not begun. The clients that
go on get their memory back in the same way when the others have moved out (moves/room.py).
"""

from collections.abc import Iterator
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Room
from nvshare.core.memory import Kind
from nvshare.core.record.client import Client, in_order
from nvshare.core.turns.revoke import still_waited_for

# Work in flight is bounded to some 20 ms. Where it has not ended after this time, it pages.
DRAIN_PATIENCE = 0.3
# The others bring in about a gigabyte in this time, by faults: less than the memory that they have.
AGAIN = 0.25
# 12 GB come in within a second or two, and a few kernels have to run beside those of the others.
# After this time the next client is helped.
HELP_PATIENCE = 10.0


def help_drain(roster: Roster, now: float) -> list[Effect]:
    """Have a client that cannot drain for paging bring its memory in."""
    if now < next_help(roster):
        return []
    client, helpless = _helped(roster), _helpless(roster)
    if helpless and (client is None or now >= client.since + HELP_PATIENCE):
        client = helpless[0]
        roster.wait_anew(helpless, now)
    if client is None:
        return []
    client.drain.note_help(now)
    return [Room(client.id, client.turn.number, 0)]


def next_help(roster: Roster) -> float:
    """Return when a client is to be helped. Infinity: none needs it."""
    helped, helpless = _helped(roster), _helpless(roster)
    if not (helped or helpless) or not pages(roster):
        return inf
    if helped:
        return helped.drain.helped_at + AGAIN
    return helpless[0].since + DRAIN_PATIENCE


def let_come_back(roster: Roster) -> None:
    """Note that memory of the running clients was pushed out, and is to come back in bulk."""
    state = roster.state
    if pages(roster):
        state.lenders = (*state.lenders, *roster.running)


def pages(roster: Roster) -> bool:
    """Whether those that may have work in flight use more memory than there is.

    All of that was on the device once, so some was pushed out.
    """
    holders = (*roster.running.values(), *roster.yielding.values())
    return sum(map(_used, holders)) > roster.room


def _used(client: Client) -> int:
    """Return how much of its memory a client uses.

    If it began without a turn, nobody has brought in what was away: its work does, page by page.
    """
    memory = client.memory
    return memory.swappable - memory.untouched if client.turn.ungranted else memory.resident


def _helpless(roster: Roster) -> list[Client]:
    """Return the clients that do not drain and were not helped yet, the first one first."""
    return in_order(one for one in _paging(roster) if not _was_helped(one))


def _helped(roster: Roster) -> Client | None:
    """Return the client that was helped last."""
    helped = [one for one in _paging(roster) if _was_helped(one)]
    return max(helped, key=lambda one: (one.since, one.order), default=None)


def _paging(roster: Roster) -> Iterator[Client]:
    """Return the clients that do not drain. No page faults bring explicit memory in."""
    late = still_waited_for(roster)
    return (one for one in late if one.kind is Kind.MANAGED and not one.gang.rests)


def _was_helped(client: Client) -> bool:
    return client.drain.helped_at >= client.since
