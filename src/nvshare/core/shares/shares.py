"""The present shares of compute. The interposers enforce them.

A share is a cap. If the shares of the clients that want to run add up to more than the device has,
all of them shrink in proportion. The processes of a group have one share, which counts once.

A program keeps to its share over a window, and uses it up in a cycle of half of that. The window
has to be long enough for every client to have a turn in it: a program must not lose the part of its
share that it could not use during the turns of others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, SetLimits, Share
from nvshare.core.events import Reason
from nvshare.core.record.client import Client
from nvshare.core.shares.attribution import note_attribution

WHOLE = 100.0
# A client that has used its share up comes back when it may use more; a client that was told to
# give way comes back when it has seen the end of its work. One that is later than this has no work.
LATENESS = 1.0


@dataclass(frozen=True, slots=True)
class _Terms:
    """The terms of a share that are the same for all clients."""

    scale: float
    window: float


def may_be_back(roster: Roster, reason: Reason) -> bool:
    """Whether a client that gave its turn up and does not wait may still be busy.

    Turns are short where a client has a share, and at their end a program is as likely to wait for
    its work as for its turn.
    """
    asked = reason is Reason.TOLD and bool(roster.with_share)
    return asked or reason is Reason.USED_UP


def forget_the_late(roster: Roster, now: float) -> None:
    """Note that clients that were expected back, and are late, are not busy."""
    for client in [one for one in _expected(roster) if now >= _back_by(one)]:
        roster.set_busy(client, False)


def tell_shares(roster: Roster) -> list[Effect]:
    """Tell each client its present share, if that differs from the last one it was told."""
    if not roster.with_share and not roster.untold:
        return []
    note_attribution(roster)
    terms = _Terms(_scale(roster), _window(roster))
    concerned = {**roster.with_share, **roster.untold}
    # In an order that does not depend on the history.
    return [
        order for _, client in sorted(concerned.items()) for order in _tell(roster, client, terms)
    ]


def next_check(roster: Roster) -> float:
    """Return when the next client should be back. Infinity: none is expected."""
    return min((_back_by(client) for client in _expected(roster)), default=inf)


def _expected(roster: Roster) -> Iterable[Client]:
    return (c for c in roster.idle.values() if c.work.busy) if roster.with_share else ()


def _back_by(client: Client) -> float:
    return client.since + client.share.window + LATENESS


def _scale(roster: Roster) -> float:
    wanted: dict[str | int, float] = {}
    for client in roster.with_share.values():
        if client.work.busy:
            wanted[client.group or client.id] = float(client.limits.compute_percent or 0)
    total = sum(wanted.values())
    return WHOLE / total if total > WHOLE else 1.0


def _window(roster: Roster) -> float:
    state = roster.state
    settings = state.settings
    if roster.everything_fits:
        return 2 * settings.share_slice_seconds
    length = roster.usual_turn
    return 2 * length * max(1, roster.everyone_load.heavy)


def _tell(roster: Roster, client: Client, terms: _Terms) -> list[Effect]:
    share = Share()
    if client.has_share and client.limits.compute_percent is not None:
        percent = client.limits.compute_percent * terms.scale
        share = Share(percent, terms.window, client.bill.own)
    if share == client.share and not client.untold:
        return []
    client.share = share
    roster.note_told(client)
    return [SetLimits(client.id, client.limits, share)]
