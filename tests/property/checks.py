"""What must hold of what a core orders, whatever has happened before."""

from collections.abc import Iterable

from nvshare.core.effects import Effect, Grant, SetLimits
from nvshare.core.events import Event, Released
from nvshare.core.roster import Roster


def check_grants(
    rosters: Iterable[Roster], event: Event, effects: list[Effect], rested: set[int]
) -> None:
    """Nobody is let in who would push out what cannot leave. Who rested has kept its place."""
    granted = [effect.client for effect in effects if isinstance(effect, Grant)]
    granted = [client for client in granted if client not in rested]
    if not granted or (isinstance(event, Released) and event.handed_to in granted):
        # Who was handed a turn runs already.
        return
    for roster in rosters:
        here = [one for one in granted if one in roster.clients]
        if here and not roster.host_lets_all(roster.running):
            running = [one for one in roster.running.values() if one.memory.swappable]
            sizes = [roster.clients[c].memory.swappable for c in here]
            # Who has everything on the device pushes nothing out. Nor do all of one gang.
            whole = not any(one.memory.swapped for one in running)
            gangs = {one.gang for one in running}
            alone = whole and (len(running) == 1 or (len(gangs) == 1 and None not in gangs))
            assert alone or not any(sizes), "somebody pushes out what cannot leave"


def check_share(order: SetLimits) -> None:
    """A share is never more than was set, and nobody is without one who has one."""
    percent, share = order.limits.compute_percent, order.share.percent
    if percent is None or percent == 100:
        assert share is None, "a share without a limit"
    else:
        assert share is not None, "a limit without a share"
        assert 0 < share <= percent, "a share that is more than was set"
        assert order.share.window > 0, "a share over no time"
