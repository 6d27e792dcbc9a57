"""Reads a daemon once a second while the page is open, in however many browsers."""

import asyncio
import time
from collections.abc import Callable

from nvshare.errors import NvshareError
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.web.source import Source
from nvshare.web.timeline import Timeline
from nvshare.web.views import NodeView

_PERIOD = 1.0
# Reading continues this long, so that a page that is reloaded or visible again finds its past.
_PATIENCE = 300.0
# An older snapshot is not shown as current.
_FRESH = 2.0

Clock = Callable[[], float]


class Watcher:
    """One node: the newest snapshot, and the last minutes."""

    def __init__(self, name: str, source: Source, clock: Clock = time.time) -> None:
        self.name = name
        self._source = source
        self._clock = clock
        self._timeline = Timeline()
        self._status: NodeStatus | None = None
        self._problem: str | None = None
        self._may_change = False
        self._looked = 0.0
        self._looking = asyncio.Lock()
        self._wanted_until = clock() + _PATIENCE
        self._wanted = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            if self._clock() >= self._wanted_until:
                self._wanted.clear()
                await self._wanted.wait()
            await self._refresh(_PERIOD / 2)
            await asyncio.sleep(_PERIOD)

    async def view(self, after: int) -> NodeView:
        """Return the node as it is now, with the samples since a moment."""
        await self.attend()
        return NodeView(
            name=self.name,
            problem=self._problem,
            may_change=self._may_change,
            status=self._status,
            lanes=self._timeline.lanes(),
            samples=self._timeline.after(after),
        )

    async def attend(self) -> NodeStatus | None:
        """Note that a page is open, and return the newest snapshot."""
        self._wanted_until = self._clock() + _PATIENCE
        self._wanted.set()
        await self._refresh(_FRESH)
        return self._status

    def expire(self) -> None:
        """Read again before the next answer, because something was changed."""
        self._looked = 0.0

    async def _refresh(self, age: float) -> None:
        """Read the daemon, unless that was done lately. Concurrent callers share one read."""
        async with self._looking:
            if 0 <= self._clock() - self._looked < age:
                return
            try:
                # In a thread: other requests must not wait for the daemon.
                self._status = await asyncio.to_thread(self._source.status)
                self._may_change = self._source.may_change()
                self._problem = None
            except (NvshareError, ValueError, OSError) as error:
                # A daemon that is ending, or of another version, must not end this loop.
                self._status, self._may_change = None, False
                self._problem = error.in_a_line if isinstance(error, NvshareError) else str(error)
            self._looked = self._clock()
            if self._status is not None:
                self._timeline.add(round(1000 * self._looked), self._status)
