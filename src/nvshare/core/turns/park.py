"""Parking: all of a client's memory leaves the device, though no client needs its place now.

A client is parked by hand, or because it has been idle for ``idle_park``. In both cases it gives
its turn up as at any turn's end, and its memory leaves behind the closed gate: all of it, or as
much as the host has room for. From then on it competes for nothing, and its memory that is away
takes no room from the others. A client that was parked for being idle comes back with its first
call, like any client that asks for a turn. A client that was parked by hand waits at its gate until
the operator takes that back.

Only a running client itself knows for certain whether it is idle. It reports while it has work.
When it has not reported for a while, it is asked to give its turn up after a long rest. It is not
asked all the time: a client that is asked assumes that others want the device.

Without ``idle_park`` none of this concerns clients that are not parked.
"""

from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect
from nvshare.core.lease import State
from nvshare.core.moves.evict import evict
from nvshare.core.record.client import Client, Park, in_order
from nvshare.core.settings import Mode, Settings
from nvshare.core.turns.orders import keep, revoke_now, revoke_when_idle
from nvshare.core.turns.revoke import tell_to_hold

# The part of the rest that a client is asked to watch itself. The order has room for about an hour.
_ASKED_PART = 0.75
_LONGEST_ASKED = 3600.0
# Clocks differ a little. A client that gives way much sooner follows an order that was taken back.
_ENOUGH = 0.9


def park_memory(roster: Roster, now: float) -> list[Effect]:
    """Park clients that have been idle for long enough; have parked ones move everything out."""
    state = roster.state
    if state.settings.idle_park is not None:
        idle = list(roster.idle.values())
        for client in [one for one in idle if now >= _parks_at(state.settings, one)]:
            roster.set_park(client, Park.IDLE, now)
    effects: list[Effect] = []
    for client in in_order(roster.parked.values()):
        if client.state is State.RUNNING and not client.drain.undrained:
            roster.tell_to_go(client, now)
            if client.hold.stage is not None:
                effects += tell_to_hold(client)
            else:
                effects.append(revoke_now(client))
        elif client.staying and client.is_away and now >= client.moving.again_at:
            effects += evict(roster, client, client.staying)
    return effects


def ask_to_rest(roster: Roster, now: float) -> list[Effect]:
    """Ask running clients that seem idle to give their turns up after a long rest."""
    state = roster.state
    effects: list[Effect] = []
    rest = asked_seconds(state.settings)
    for client in in_order(roster.resting.values()):
        if now < _asks_at(state.settings, client) or client.rest.asked_seconds != rest:
            roster.set_rest_asked(client, None)
            effects.append(keep(client))
    if state.settings.idle_park is None:
        return effects
    for client in roster.running.values():
        if client.rest.asked_at is None and now >= _asks_at(state.settings, client):
            roster.set_rest_asked(client, now, rest)
            effects.append(revoke_when_idle(client, rest))
    return effects


def has_rested(client: Client, now: float) -> bool:
    """Whether a client that gives its turn up for being idle has been so for long enough."""
    asked_at = client.rest.asked_at
    return asked_at is not None and now >= asked_at + _ENOUGH * client.rest.asked_seconds


def next_look(roster: Roster, now: float) -> float:
    """Return when a client is next to be asked, parked, or told again. Infinity: never."""
    state = roster.state
    moments = [one.moving.again_at for one in roster.parked.values() if one.staying and one.is_away]
    moments = [moment for moment in moments if moment > now]
    if state.settings.idle_park is not None:
        moments += [_parks_at(state.settings, client) for client in roster.idle.values()]
        moments += [
            _asks_at(state.settings, client)
            for client in roster.running.values()
            if client.rest.asked_at is None
        ]
    return min(moments, default=inf)


def asked_seconds(settings: Settings) -> float:
    """Return how long a client is asked to rest before it gives its turn up."""
    return min(_ASKED_PART * (settings.idle_park or inf), _LONGEST_ASKED)


def _parks_at(settings: Settings, client: Client) -> float:
    """Return when a client without a turn has been idle for long enough."""
    if not _may_park(settings, client):
        return inf
    since = client.since if client.rest.since is None else client.rest.since
    return since + (settings.idle_park or inf)


def _asks_at(settings: Settings, client: Client) -> float:
    if client.turn.soft_revoked or client.gang.rests or not _may_park(settings, client):
        return inf
    return client.work.worked_at + (settings.idle_park or inf) - asked_seconds(settings)


def _may_park(settings: Settings, client: Client) -> bool:
    """Whether a client may be parked for being idle. Without scheduling, none is."""
    wanted = settings.idle_park is not None and settings.mode in (Mode.AUTO, Mode.SERIAL)
    return wanted and client.park is None and client.memory.swappable > 0
