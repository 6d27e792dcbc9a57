"""What the time of all clients goes to, checked after every event of every history."""

from nvshare.core.client_time import nanoseconds
from nvshare.core.core import Core
from nvshare.core.effects import Effect
from nvshare.core.events import ClientJoined, Event
from nvshare.core.time_log import TimeLog


class FollowedTime:
    """Follows a core, and finds out if it has missed anything."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = TimeLog(core)
        self._came: dict[int, float] = {}
        self._events = 0

    def follow(self, event: Event, effects: list[Effect]) -> None:
        """Tell the log, and see whether it takes everybody for what it is."""
        self._log.hear(event, effects)
        if isinstance(event, ClientJoined):
            self._came[event.client] = event.now
        self._events += 1
        for client, follower in self._log._followers.items():
            glance, doing = self._core.glance(client), follower.time.doing
            assert glance is not None, f"client {client} has gone unheard"
            follower.look(nanoseconds(event.now), glance)
            assert follower.time.doing is doing, f"client {client} is {glance}, taken for {doing}"
            # Histories are long, and sums go on as they were.
            if self._events % 8 == 0:
                total = sum(follower.time.spent(nanoseconds(event.now)).values())
                assert total == nanoseconds(event.now) - nanoseconds(self._came[client])
