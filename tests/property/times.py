"""How the time of all clients is divided, checked after every event of every history."""

from nvshare.core.core import Core
from nvshare.core.effects import Effect
from nvshare.core.events import ClientJoined, Event
from nvshare.telemetry.time.client_time import nanoseconds
from nvshare.telemetry.time.time_log import TimeLog


class FollowedTime:
    """Follows a core and checks that no change of state was missed."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = TimeLog(core)
        self._came: dict[int, float] = {}
        self._events = 0

    def follow(self, event: Event, effects: list[Effect]) -> None:
        """Tell the log, and check that it has every client in the right state."""
        self._log.hear(event, effects)
        if isinstance(event, ClientJoined):
            self._came[event.client] = event.now
        self._events += 1
        for client, follower in self._log._followers.items():
            glance, doing = self._core.glance(client), follower.time.doing
            assert glance is not None, f"client {client} has gone unheard"
            follower.look(nanoseconds(event.now), glance)
            assert follower.time.doing is doing, f"client {client} is {glance}, taken for {doing}"
            # Checked now and then: histories are long, and a wrong sum stays wrong.
            if self._events % 8 == 0:
                total = sum(follower.time.spent(nanoseconds(event.now)).values())
                assert total == nanoseconds(event.now) - nanoseconds(self._came[client])
