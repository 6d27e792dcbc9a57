"""Clients that hold turns and do not fit together: their work in flight pages, and hardly ends.

That happens where they ran without a daemon for long, or one has grown. Those that are told to give
way (splitting.py) close their gates, but every kernel in flight has to fetch its memory page by
page, and the others take it away again: instead of milliseconds it runs for tens of seconds.

So one of them at a time is told to bring all its memory in, in bulk. Its kernels end soon after it
has come, and then it is the next one's turn. The clients that go on get their memory back in the
same way when the others have moved out (room.py).
"""

from math import inf

from nvshare.core.client import Client, in_order
from nvshare.core.effects import Effect, Room
from nvshare.core.memory import Kind
from nvshare.core.revoking import still_waited_for
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState

# Work in flight is bounded to some 20 ms. Where it has not ended after this time, it pages.
DRAIN_PATIENCE = 0.3
# 12 GB come in within a second or two. After this time the next client is helped.
HELP_PATIENCE = 5.0


def help_drain(roster: Roster, now: float) -> list[Effect]:
    """Have the next client that cannot drain for paging bring its memory in."""
    if now < next_help(roster):
        return []
    client = _helpless(roster)[0]
    client.helped_at = now
    return [Room(client.id, client.turn, 0)]


def next_help(roster: Roster) -> float:
    """Return when the next client is to be helped. Infinity: none needs it."""
    helpless = _helpless(roster)
    if not helpless or not pages(roster):
        return inf
    helped = (one.helped_at for one in roster.yielding.values() if _was_helped(one))
    last = max(helped, default=-inf)
    return max(helpless[0].since + DRAIN_PATIENCE, last + HELP_PATIENCE)


def let_come_back(state: DeviceState, roster: Roster) -> None:
    """Note that memory of the running clients was pushed out, and is to come back in bulk."""
    if pages(roster):
        state.lenders = (*state.lenders, *roster.running)


def pages(roster: Roster) -> bool:
    """Whether those that may have work in flight use more memory than there is.

    All of that was on the device once, so some was pushed out.
    """
    holders = (*roster.running.values(), *roster.yielding.values())
    return sum(one.memory.resident for one in holders) > roster.room


def _helpless(roster: Roster) -> list[Client]:
    """Return the clients that do not drain and were not helped yet, the first one first.

    No page faults bring explicit memory in: it is all there.
    """
    late = (one for one in still_waited_for(roster) if one.kind is Kind.MANAGED)
    return in_order(one for one in late if not one.rests and not _was_helped(one))


def _was_helped(client: Client) -> bool:
    return client.helped_at >= client.since
