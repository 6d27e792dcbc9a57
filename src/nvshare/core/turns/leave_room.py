"""Where clients run to their end, those that wait for one leave the room to those that rest.

A client that rests comes back before them, perhaps many times. With what is left of its memory on
the device, its next burst begins sooner. A client that waits for another one's end has no use for
the room until then.
"""

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect
from nvshare.core.host.admit import running_admits
from nvshare.core.moves.evict import evict_in_turn
from nvshare.core.precedence.interrupt import outweighs
from nvshare.core.record.client import Client


def leave_to_bursts(roster: Roster) -> list[Effect]:
    """Have clients that wait for an end move out as much as those that rest have a use for."""
    wanted = _wanted(roster)
    lacking = wanted + roster.overcommit
    if not wanted or lacking <= 0:
        return []
    waiting = [client for client in roster.waiting if _waits_for_end(roster, client)]
    return evict_in_turn(roster, reversed(waiting), lacking)


def _wanted(roster: Roster) -> int:
    """Return how many bytes are on the host of clients that rest and may come before an end."""
    if not roster.policy.runs_to_end or roster.memory_suffices or not roster.waiting:
        return 0
    resting = (one for one in roster.idle.values() if not one.park and one.hosted)
    return sum(one.hosted for one in resting)


def _waits_for_end(roster: Roster, client: Client) -> bool:
    """Whether a waiting client has nothing by which it comes before the running ones' end."""
    comes_before = (
        client.precedence.bursts
        or client.precedence.interrupted is not None
        or outweighs(roster, client)
    )
    return not comes_before and not running_admits(roster, *roster.party(client))
