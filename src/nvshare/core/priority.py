"""Which clients go before others. Decides nothing; scheduler.py asks.

A client waits with the standing of its priority, and clients of better standing are served first. A
client that has waited so long that it would fall below its floor gets the best standing for its
next turn, so that none starves whatever the others do.

Clients of one priority are served in their order, and need no floor. The exception is a gang that
goes first because of another device: it goes first on all its devices, and two such gangs would
take turns before all other clients.
"""

from math import inf

from nvshare.core.client import BEST_STANDING, Client
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings


def outranks(head: Client, roster: Roster) -> bool:
    """Whether a client goes before all clients in its way."""
    return all(head.standing < client.standing for client in roster.in_the_way)


def is_outranked(head: Client, roster: Roster) -> bool:
    """Whether a client in its way goes before a client.

    With one priority none does, though some may have got a better standing a while ago.
    """
    return len(roster.classes) > 1 and any(
        client.standing < head.standing for client in roster.in_the_way
    )


def patience(settings: Settings, roster: Roster) -> float:
    """Return how long a client can wait for a turn and still have its floor.

    Where clients run to their end, it also waits for a turn of its own priority, however long.
    """
    behind_equals = settings.batch_turn if roster.policy.runs_to_end else 0.0
    floor = roster.regime.usual_turn(settings, roster) * (1 / settings.priority_floor - 1)
    return behind_equals + floor


def has_floor(roster: Roster) -> bool:
    """Whether some clients go before others here, so that the others need a floor."""
    return len(roster.classes) > 1 or bool(roster.let_first)


def starving(settings: Settings, roster: Roster, now: float) -> list[Client]:
    """Return the clients that would fall below their floor if they waited any longer."""
    if not has_floor(roster):
        return []
    return [client for client in roster.waiting if is_starving(client, settings, roster, now)]


def is_starving(client: Client, settings: Settings, roster: Roster, now: float) -> bool:
    """Whether a waiting client would fall below its floor if it waited any longer."""
    if client.standing == BEST_STANDING or not has_floor(roster):
        return False
    return now >= client.since + patience(settings, roster)


def next_promotion(settings: Settings, roster: Roster) -> float:
    """Return when the next client will starve. Infinity: never."""
    if not has_floor(roster):
        return inf
    longest = patience(settings, roster)
    waiting = (c.since + longest for c in roster.waiting if c.standing != BEST_STANDING)
    return min(waiting, default=inf)
