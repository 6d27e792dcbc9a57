"""When a waiting client may interrupt the running ones, before their turn is over.

A client that comes back after a rest pays a visit, and so does a new one. The rest has to be worth
the move: it is at least as long as the client's memory takes to come in. A visitor interrupts
clients that have used more than it, by more than the visit costs; or that have used more than an
equal part of the device, by as much. It does so once for each rest, and pays for all moves. Other
visitors it lets stay for as long as any turn that is to be worth its moves.

Clients that compute all the time stand for each other: their turns are long, so that the use of
each swings far, and only their mean says what they have had.

A client of greater weight need not have rested: it comes as soon as the present turn has lasted for
the shortest length of a turn. Where everything fits no memory moves, and it comes at once, but not
in a slice that has begun while it waited.
"""

from collections.abc import Iterator
from itertools import islice
from math import inf, log2

from nvshare.core.clients.roster import Roster
from nvshare.core.precedence.charge import half_life, holders_of, one_way, use_of
from nvshare.core.precedence.weights import weight_of, weights_of_all
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState
from nvshare.core.record.pace import MULTIPLIER
from nvshare.core.record.use import whole_of
from nvshare.core.settings import Interactive

# How long a client has to rest before it pays a visit, as a multiple of the way in of its memory;
# and by how much the use of the others has to exceed its own, as a multiple of both ways.
_REST = {Interactive.PROMPT: 0.5, Interactive.BALANCED: 1.0, Interactive.THROUGHPUT: 2.0}
_MARGIN = {Interactive.PROMPT: 0.5, Interactive.BALANCED: 1.5, Interactive.THROUGHPUT: 4.0}
# Neither is less than this part of the shortest turn, however small the client.
LEAST_REST, LEAST_MARGIN = 1 / 300, 1 / 30
# So many turns are much: uses differ by less where clients of different sizes take equal turns.
OVERRUN = 2
# So many waiting clients stand for all that compute all the time.
_ENOUGH = 16


def come(roster: Roster, client: Client, now: float) -> None:
    """Note whether a client that has rested until now, and wants the device, pays a visit."""
    state = roster.state
    least = LEAST_REST * state.settings.turn_min
    rest = max(least, _REST[state.settings.interactive] * one_way(roster, client))
    rested = client.precedence.is_new or now - client.since >= rest
    client.precedence.come(visits=rested and not roster.regime.is_sliced)


def interrupts_at(roster: Roster, head: Client, now: float) -> float:
    """Return when the head may interrupt the clients in its way. Infinity: never."""
    state = roster.state
    at = now
    if not head.precedence.visits:
        if not outweighs(roster, head):
            return inf
        if roster.regime.is_sliced and _was_passed_over(roster, head):
            return inf
        at = max(at, state.turn_started + roster.regime.least_turn(state.settings))
    margin = 0.0
    if not roster.regime.is_sliced:
        cost = _MARGIN[state.settings.interactive] * 2 * one_way(roster, head)
        margin = max(LEAST_MARGIN * state.settings.turn_min, cost) / weight_of(roster, head)
    for one in roster.in_the_way:
        at = max(at, _pays_off_at(state, one), _passes_at(roster, head, one, margin))
    return at


def _was_passed_over(roster: Roster, head: Client) -> bool:
    """Whether a client waited already when a slice began: it was the other one's turn."""
    return any(head.since <= one.turn.granted_at for one in roster.in_the_way)


def _pays_off_at(state: DeviceState, client: Client) -> float:
    """Return when a visitor's turn has lasted for long enough to be worth its own moves."""
    if not client.precedence.bursts:
        return client.turn.granted_at
    return client.turn.granted_at + MULTIPLIER * state.pace.swap_seconds(client.memory.swappable, 0)


def lets_go_first(roster: Roster, visitor: Client, other: Client) -> bool:
    """Whether a waiting visitor lets a waiting client go first that computes all the time.

    Otherwise visitors could keep it from the device without ever interrupting anybody. But a
    visitor that has waited for longer need not: it has its turn like any other client.
    """
    if visitor.in_gang or other.in_gang or roster.policy.runs_to_end:
        return False
    if visitor.precedence.served_at < other.precedence.served_at:
        return False
    margin = one_way(roster, visitor) / weight_of(roster, visitor)
    return not _passes(roster, visitor, other, margin)


def first_in_turn(roster: Roster, clients: Iterator[Client]) -> Client | None:
    """Return the next of the waiting clients that compute all the time, in the order of the policy.

    One that has used much more than the next one has overrun its turns, or belongs to a user with
    several programs here. It lets the next one go first.
    """
    first = next(clients, None)
    if first is None or roster.regime.is_sliced or roster.policy.runs_to_end:
        return first
    most = OVERRUN * roster.usual_turn
    for other in islice(clients, _ENOUGH):
        if first.in_gang or other.in_gang:
            break
        if use_of(roster, first) <= use_of(roster, other) + most:
            break
        first = other
    return first


def outweighs(roster: Roster, head: Client) -> bool:
    """Whether a client has a greater weight than all clients in its way."""
    if len(roster.classes) < 2:
        return False
    own = weight_of(roster, head)
    return all(weight_of(roster, one) < own for one in roster.in_the_way)


def _like(roster: Roster, client: Client) -> list[Client]:
    """Return the clients that stand for a client: itself, and others that compute all the time.

    Where clients run to their end, one has the device, and the others wait for that.
    """
    if client.precedence.bursts or roster.policy.runs_to_end:
        return [client]
    waiting = islice(roster.waiting.steady(), _ENOUGH)
    running = (one for one in roster.in_the_way if not one.precedence.bursts)
    priority = client.limits.priority
    return [
        one
        for one in (*running, *waiting)
        if one is client or (one.weight and one.limits.priority is priority)
    ]


def _part(roster: Roster) -> float:
    """Return the use of a client that has had an equal part of the device."""
    state = roster.state
    return whole_of(half_life(state)) / max(1e-9, weights_of_all(roster))


def _mean(roster: Roster, clients: list[Client]) -> float:
    return sum(use_of(roster, one) for one in clients) / len(clients)


def _passes(roster: Roster, client: Client, other: Client, margin: float) -> bool:
    """Whether a client may go before another one that waits."""
    like = _like(roster, other)
    if other not in like:
        like.append(other)
    own = min(use_of(roster, client), _part(roster))
    return _mean(roster, like) >= own + margin


def _passes_at(roster: Roster, client: Client, other: Client, margin: float) -> float:
    """Return when a client may go before another one that runs, if nothing else happens."""
    state = roster.state
    now, life = state.use_clock.at, half_life(state)
    like = _like(roster, other)
    theirs, own = _mean(roster, like), use_of(roster, client)
    # Visitors go by their use alone, as in the queue. Otherwise two could interrupt each other.
    part = inf if other.precedence.bursts else _part(roster)
    if theirs >= min(own, part) + margin:
        return now
    # What they would have if this went on for ever.
    limit = whole_of(life) / holders_of(roster) / weight_of(roster, other) / len(like)
    at = inf
    if limit > margin and limit > theirs - own:
        at = now - life * log2(min(1.0, (limit - margin) / (limit - theirs + own)))
    if limit > part + margin and limit > theirs:
        at = min(at, now - life * log2(min(1.0, (limit - part - margin) / (limit - theirs))))
    return at
