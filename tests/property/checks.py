"""Rules for the orders of a core that hold after any history."""

from collections.abc import Iterable

from nvshare.core.effects import Effect, Grant, SetLimits
from nvshare.core.events import Event, Released

from .inside import Card


def check_grants(
    cards: Iterable[Card], event: Event, effects: list[Effect], rested: set[int]
) -> None:
    """No granted client pushes out memory that cannot leave. One that rested has kept its place."""
    granted = [effect.client for effect in effects if isinstance(effect, Grant)]
    granted = [client for client in granted if client not in rested]
    if not granted or (isinstance(event, Released) and event.handed_to in granted):
        # A client that was handed a turn runs already.
        return
    for card in cards:
        here = [one for one in granted if one in card]
        if here and not card.host_lets_running:
            running = [one for one in card.running if one.swappable]
            sizes = [card[client].swappable for client in here]
            # A client that is whole on the device pushes nothing out. Nor does a gang alone on it.
            whole = not any(one.away for one in running)
            gangs = {one.gang for one in running}
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
