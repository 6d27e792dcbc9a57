"""Who goes before whom. Decides nothing; scheduler.py asks.

A client waits with the standing of its priority, and those of a better standing are served first.
Who waits for so long that it falls below its floor is given the best standing for its next turn,
so that nobody starves whatever the others do.

Where all are of one priority they are served in their order, and nobody needs a floor. Except
beside a gang that was let go first because of another device: it goes first on all its devices, and
two of them would take turns before everybody else.
"""

from math import inf

from nvshare.core.client import BEST_STANDING, Client
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings


def outranks(head: Client, roster: Roster) -> bool:
    """Whether a client goes before all who are in its way."""
    return all(head.standing < client.standing for client in roster.in_the_way)


def is_outranked(head: Client, roster: Roster) -> bool:
    """Whether somebody who is in its way goes before a client.

    Where all are of one priority nobody does, though some may have been let go first a while ago.
    """
    return len(roster.classes) > 1 and any(
        client.standing < head.standing for client in roster.in_the_way
    )


def patience(settings: Settings, roster: Roster) -> float:
    """Return how long a client can wait for a turn, and still have its floor by it."""
    return roster.regime.usual_turn(settings, roster) * (1 / settings.priority_floor - 1)


def has_floor(roster: Roster) -> bool:
    """Whether some go before others here, so that those have to be looked after."""
    return len(roster.classes) > 1 or bool(roster.let_first)


def starving(settings: Settings, roster: Roster, now: float) -> list[Client]:
    """Return those who would fall below their floor if they waited any longer."""
    if not has_floor(roster):
        return []
    return [client for client in roster.waiting if is_starving(client, settings, roster, now)]


def is_starving(client: Client, settings: Settings, roster: Roster, now: float) -> bool:
    """Whether a client that waits would fall below its floor if it waited any longer."""
    if client.standing == BEST_STANDING or not has_floor(roster):
        return False
    return now >= client.since + patience(settings, roster)


def next_promotion(settings: Settings, roster: Roster) -> float:
    """Return when somebody will starve; never: infinity."""
    if not has_floor(roster):
        return inf
    longest = patience(settings, roster)
    waiting = (c.since + longest for c in roster.waiting if c.standing != BEST_STANDING)
    return min(waiting, default=inf)
