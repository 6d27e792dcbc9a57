"""Which of the reports that clients send again and again are heard.

A client reports its usage several times a second. More often than it can make a difference it is
not heard: what must hold would be restored for nothing, and a journal would tell of little else.
What is kept here is no part of a journal, which has the reports that were heard, and no others.

For the same reason nobody hears that a client wants its turn which is known to wait for it.
"""

from dataclasses import dataclass
from math import inf

from nvshare.core.client import Client
from nvshare.core.events import UsageReported, Used, Wanted
from nvshare.core.lease import State
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings

# More clients of a device than this are heard less than once a second each.
MANY = 100


@dataclass(slots=True)
class _Last:
    """What a client has reported, and when it was heard."""

    busy_seconds: float = 0.0
    heard_at: float = -inf


class Hearing:
    """Remembers who was heard when."""

    def __init__(self) -> None:
        self._last: dict[int, _Last] = {}

    def listen(self, event: UsageReported, pause: float) -> Used | None:
        """Return what is heard of a report, at most once in a pause; and always who rests."""
        last = self._last.setdefault(event.client, _Last())
        rests = event.busy_seconds == last.busy_seconds
        # It only grows, whatever a client says.
        last.busy_seconds = max(last.busy_seconds, event.busy_seconds)
        if not rests and event.now < last.heard_at + pause:
            return None
        last.heard_at = event.now
        return Used(
            now=event.now,
            client=event.client,
            busy_seconds=event.busy_seconds,
            throttled_seconds=event.throttled_seconds,
        )

    def forget(self, client: int) -> None:
        """Forget a client that is gone."""
        self._last.pop(client, None)


def is_known(event: Wanted, client: Client) -> bool:
    """Whether it is known already that a client wants its turn."""
    if client.state is not State.WAITING or client.park is not None:
        return False
    return client.wants or event.turn != client.next_turn


def usage_pause(settings: Settings, roster: Roster) -> float:
    """Return for how long another report makes no difference: with shares, each one does.

    Where many are, nobody's turn depends on the last second of one of them.
    """
    if roster.with_share:
        return 0.0
    return max(settings.slice_seconds or 1.0, len(roster.clients) / MANY)
