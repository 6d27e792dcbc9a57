"""Rules for the orders of a core that hold after any history."""

from collections.abc import Iterable

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Grant, SetLimits
from nvshare.core.events import Event, Released
from nvshare.core.host.admit import host_lets_all


def check_grants(
    rosters: Iterable[Roster], event: Event, effects: list[Effect], rested: set[int]
) -> None:
    """No granted client pushes out memory that cannot leave. One that rested has kept its place."""
    granted = [effect.client for effect in effects if isinstance(effect, Grant)]
    granted = [client for client in granted if client not in rested]
    if not granted or (isinstance(event, Released) and event.handed_to in granted):
        # A client that was handed a turn runs already.
        return
    for roster in rosters:
        here = [one for one in granted if one in roster.clients]
        if here and not host_lets_all(roster, roster.running):
            running = [one for one in roster.running.values() if one.memory.swappable]
            sizes = [roster.clients[c].memory.swappable for c in here]
            # A client that is whole on the device pushes nothing out. Nor does a gang alone on it.
            whole = not any(one.memory.swapped for one in running)
            gangs = {one.gang.number for one in running}
            alone = whole and (len(running) == 1 or (len(gangs) == 1 and None not in gangs))
            assert alone or not any(sizes), "a client pushes out memory that cannot leave"


def check_share(order: SetLimits) -> None:
    """A share is never more than its limit, and every limit below 100 % has a share."""
    percent, share = order.limits.compute_percent, order.share.percent
    if percent is None or percent == 100:
        assert share is None, "a share without a limit"
    else:
        assert share is not None, "a limit without a share"
        assert 0 < share <= percent, "a share that is more than was set"
        assert order.share.window > 0, "a share over no time"
