"""What shares of compute come to at the moment. The interposers see to it that they are kept.

A share is a cap. If the shares of those who want to run add up to more than the device has, all of
them shrink in proportion. Processes that have their limits together have one share and count once.

A program keeps to its share over a window, and uses it up in a cycle of half of that. The window
has to be long enough for everybody to have had a turn in it: what a program could not use because
others had theirs must not be lost to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nvshare.core.attribution import note_attribution
from nvshare.core.client import Client
from nvshare.core.effects import Effect, SetLimits, Share
from nvshare.core.events import Reason
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState

WHOLE = 100.0
# Who has used its share up comes back when it may use more, and who was told to go when it has seen
# the end of its work. Who does not has nothing to do.
LATENESS = 1.0


@dataclass(frozen=True, slots=True)
class _Terms:
    """What is the same for everybody."""

    scale: float
    window: float
    copies: bool


def may_be_back(roster: Roster, reason: Reason) -> bool:
    """Whether who has gone without waiting for another turn may compute all the time all the same.

    Turns are short where somebody has a share, and at their end a program is as likely to wait for
    its work as for its turn.
    """
    asked = reason is Reason.TOLD and bool(roster.with_share)
    return asked or reason is Reason.USED_UP


def forget_the_late(roster: Roster, now: float) -> None:
    """Note that those who may have come back, and have not, have nothing to do."""
    for client in [one for one in _expected(roster) if now >= _back_by(one)]:
        roster.set_busy(client, False)


def tell_shares(state: DeviceState, roster: Roster) -> list[Effect]:
    """Tell everybody what its share comes to, if that is not what it was told last."""
    if not roster.with_share and not roster.untold:
        return []
    note_attribution(roster)
    terms = _Terms(_scale(roster), _window(state, roster), state.settings.count_copies)
    concerned = {**roster.with_share, **roster.untold}
    # In an order that does not depend on what has happened.
    return [
        order for _, client in sorted(concerned.items()) for order in _tell(roster, client, terms)
    ]


def next_check(roster: Roster) -> float | None:
    """Return when somebody should be back."""
    return min((_back_by(client) for client in _expected(roster)), default=None)


def _expected(roster: Roster) -> Iterable[Client]:
    return (c for c in roster.idle.values() if c.busy) if roster.with_share else ()


def _back_by(client: Client) -> float:
    return client.since + client.share.window + LATENESS


def _scale(roster: Roster) -> float:
    wanted: dict[str | int, float] = {}
    for client in roster.with_share.values():
        if client.busy:
            wanted[client.group or client.id] = float(client.limits.compute_percent or 0)
    total = sum(wanted.values())
    return WHOLE / total if total > WHOLE else 1.0


def _window(state: DeviceState, roster: Roster) -> float:
    settings = state.settings
    if roster.everything_fits:
        return 2 * settings.share_slice_seconds
    length = roster.regime.usual_turn(settings, roster)
    return 2 * length * max(1, roster.everyone_load.heavy)


def _tell(roster: Roster, client: Client, terms: _Terms) -> list[Effect]:
    share = Share()
    if client.has_share and client.limits.compute_percent is not None:
        percent = client.limits.compute_percent * terms.scale
        share = Share(percent, terms.window, client.own, terms.copies)
    if share == client.share and client.id not in roster.untold:
        return []
    roster.untold.pop(client.id, None)
    client.share = share
    return [SetLimits(client.id, client.limits, share)]
