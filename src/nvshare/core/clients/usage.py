"""How much a client computes, by its reports of busy time. Decides nothing.

Busy time is measured against the time in which the client held a turn: while it waits for one it
cannot be busy, and that says nothing about it. A client that is held back by its share would
compute more if it could, and so counts as busy.
"""

from nvshare.core.events import Used
from nvshare.core.record.client import Client

# As a part of its turns. Below this, the time a client leaves unused exceeds what slices save.
BUSY = 0.9
# A busy client stays busy until it falls below this, so that the judgement does not flicker.
STILL_BUSY = 0.8


def note_turn_end(client: Client, now: float) -> None:
    """Add the turn that ends now to the time in which the client held one."""
    client.held_before += now - client.granted_at


def held_seconds(client: Client, now: float) -> float:
    """Return for how long a client has held turns, without the times that it rested in them."""
    is_on = client.holds and not client.rests
    return client.held_before + (now - client.granted_at if is_on else 0.0)


def is_busy(client: Client, event: Used, window: float) -> bool:
    """Note a client's counters, and return whether it is busy by them.

    It is judged again when it has held turns for a window since the last time.
    """
    held = held_seconds(client, event.now)
    throttled = event.throttled_seconds - client.judged_throttled
    span, before = held - client.judged_held, client.judged_busy
    if before is not None and span < window:
        return client.busy or throttled > 0
    client.judged_held, client.judged_busy = held, event.busy_seconds
    client.judged_throttled = event.throttled_seconds
    if before is None:
        return False
    enough = span * (STILL_BUSY if client.busy else BUSY)
    return throttled > 0 or event.busy_seconds - before >= enough


def is_active(client: Client, event: Used) -> bool:
    """Note a client's busy seconds, and return whether they have grown since the last report."""
    before, client.reported_busy = client.reported_busy, event.busy_seconds
    return event.busy_seconds > before
