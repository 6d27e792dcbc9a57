"""Follows the pods of one node: lists them once, then watches. Never polls, and never gives up."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from nvshare.kubernetes.backoff import Backoff
from nvshare.kubernetes.cache import Cache, Change, Gone
from nvshare.kubernetes.client import PASSING, Client

log = logging.getLogger("nvshare.pods")

# A watch reports everything. Listing now and then anyway repairs errors that are not foreseen.
_RESYNC = 3600.0
# A server that ends watches at once would otherwise be asked without a pause.
_SHORTEST_WATCH = 1.0


class PodWatch:
    """A task that keeps a cache up to date, and reports every change."""

    def __init__(
        self,
        client: Client,
        node: str,
        on_change: Callable[[Change], None],
        *,
        backoff: Backoff | None = None,
        resync: float = _RESYNC,
    ) -> None:
        self._client = client
        self._node = node
        self._on_change = on_change
        self._backoff = backoff or Backoff(0.2, 30.0)
        self._resync = resync
        self._list_due = 0.0
        self._in_trouble = False
        self.cache = Cache()
        self.synced = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                if began >= self._list_due:
                    await self._list()
                    self._list_due = began + self._resync
                await self._watch()
            except Gone:
                log.debug("the API server no longer has the version that was seen last")
                self._list_due = 0.0
            except PASSING as error:
                self._complain(error)
                await asyncio.sleep(self._backoff.pause())
            else:
                if loop.time() - began < _SHORTEST_WATCH:
                    await asyncio.sleep(self._backoff.pause())

    async def _list(self) -> None:
        items, version = await self._client.list_pods(self._node)
        self._tell(self.cache.replace(items, version))
        self._recover()
        if not self.synced.is_set():
            log.info("following the pods of %s, %d of them now", self._node, len(self.cache.pods))
        self.synced.set()

    async def _watch(self) -> None:
        async for event in self._client.watch_pods(self._node, self.cache.version):
            self._tell(self.cache.take(event))
            self._recover()

    def _tell(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._on_change(change)

    def _complain(self, error: BaseException) -> None:
        if not self._in_trouble:
            log.warning(
                "the pods of this node cannot be followed; their last limits stay in force while "
                "this is tried again: %s",
                str(error) or type(error).__name__,
            )
        self._in_trouble = True

    def _recover(self) -> None:
        if self._in_trouble:
            log.warning("the pods of this node are followed again")
        self._in_trouble = False
        self._backoff.reset()
