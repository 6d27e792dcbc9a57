"""A client that joins soon after a start of the daemon, before the other members of its group.

They have the group's quota page, and bring it back in a moment (HELLO). A client that began with
another page would not count what they use. So the daemon delays its WELCOME.
"""

import asyncio
from collections.abc import Callable

from nvshare.daemon.tenants.identity import Identity
from nvshare.wire import frames

# Programs wait for WELCOME a little longer than this, and reconnect to a new daemon sooner:
# greeting_time and longest_backoff in native/interposer/session/client.c.
_SECONDS = 4.0
_GLANCE = 0.05


class PageWait:
    """The wait of one client. ``awaits_page`` says whether its group's page is about to come."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        awaits_page: Callable[[Identity, frames.Hello], bool],
    ) -> None:
        self._loop = loop
        self._awaits_page = awaits_page
        self._until: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def must_wait(
        self, who: Identity, hello: frames.Hello, again: Callable[[frames.Hello], None]
    ) -> bool:
        """Whether it is too early for a client to begin.

        Then ``again`` is called later with its HELLO.
        """
        self.end()
        is_back = hello.slot_key or hello.flags & frames.HelloFlags.RESUMING
        if is_back or not self._awaits_page(who, hello):
            return False
        now = self._loop.time()
        if self._until is None:
            self._until = now + _SECONDS
        if now >= self._until:
            return False
        self._timer = self._loop.call_later(_GLANCE, again, hello)
        return True

    def end(self) -> None:
        """Cancel the wait."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
