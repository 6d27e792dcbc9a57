"""Which of the periodic reports of clients are heard.

A client reports its usage several times a second. Reports that can make no difference are dropped:
the scheduler would run for nothing, and reports would fill the journal. The journal contains only
the reports that were heard, so the state kept here is no part of it.

For the same reason, a repeated Wanted of a client that is known to wait is dropped.
"""

from dataclasses import dataclass
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.events import UsageReported, Used, Wanted
from nvshare.core.lease import State
from nvshare.core.record.client import Client
from nvshare.core.settings import Settings

# With more clients on a device than this, each is heard less than once a second.
MANY = 100


@dataclass(slots=True)
class _Last:
    """A client's last counter, and when it was last heard."""

    busy_seconds: float = 0.0
    heard_at: float = -inf


class ReportFilter:
    """Remembers when each client was heard."""

    def __init__(self) -> None:
        self._last: dict[int, _Last] = {}

    def listen(self, event: UsageReported, pause: float) -> Used | None:
        """Return the heard report, at most one in a pause. A report of rest is always heard."""
        last = self._last.setdefault(event.client, _Last())
        rests = event.busy_seconds == last.busy_seconds
        # The counter never falls, whatever a client reports.
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
    return client.turn.wants or event.turn != client.turn.next


def usage_pause(settings: Settings, roster: Roster) -> float:
    """Return for how long another report makes no difference. With shares, every one does.

    With many clients, no turn depends on the last second of one of them.
    """
    if roster.with_share:
        return 0.0
    return max(settings.slice_seconds or 1.0, len(roster.clients) / MANY)
