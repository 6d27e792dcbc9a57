"""Host memory for programs that copy their memory out themselves: made here, and handed over.

It is made in extents. An extent is a memory file that only its program has; the daemon keeps no
descriptor. All pages are touched first, so that the kernel charges the daemon's memory cgroup and
never that of the program. Extents are sealed, so that no process can take pages away under a
program that copies to them. All this takes time, and so a thread does it. The core decides how much
each program is to have; this module only counts what it has, and what is on its way.
"""

import asyncio
import errno
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from nvshare import kernel
from nvshare.core.clients.host_room import gib
from nvshare.core.events import HostDenied, HostRoomChanged
from nvshare.daemon.executor import Executor
from nvshare.daemon.logs import fields
from nvshare.wire import frames

log = logging.getLogger("nvshare.extents")

EXTENT = 64 << 20
# The most that may be on its way to a program, not yet confirmed.
_WINDOW = 8 * EXTENT
# Memory leaves in whole chunks, a little more than was ordered.
_SLACK = 2 * EXTENT
_STEP = 2 << 20
_ZEROS = bytes(_STEP)
# The time between a failure and the next attempt.
_RETRY_SECONDS = 5.0
_POOL = "host memory"


def make_extent(size: int, *, populated: bool) -> int:
    """Return the descriptor of a new extent. It is written: pages only read have no memory."""
    descriptor = kernel.memory_file("nvshare-extent")
    try:
        os.ftruncate(descriptor, size)
        for offset in range(0, size if populated else 0, _STEP):
            if os.pwrite(descriptor, _ZEROS, offset) < _STEP:
                raise OSError(0, "the kernel wrote only a part of it")
        kernel.seal_size(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@dataclass(slots=True)
class _Account:
    """The host memory that one program is to have, and has."""

    wanted: int = 0
    sent: int = 0
    told: frames.Host = field(default_factory=lambda: frames.Host(0, 0, 0, 0))

    @property
    def on_the_way(self) -> int:
        return max(0, self.sent - self.told.received)

    @property
    def count(self) -> int:
        return self.told.held + self.on_the_way

    @property
    def shortfall(self) -> int:
        """The bytes still due, bounded by what the program can use.

        A program that waits for more may have it: small allocations take whole pages of 2 MiB. But
        its word alone must not take the host from others.
        """
        ahead = self.wanted + _SLACK if self.wanted else 0
        waiting = self.told.held + self.told.lacking if self.told.lacking else 0
        return min(self.told.most, max(ahead, min(waiting, 2 * ahead))) - self.count

    @property
    def takes_more(self) -> bool:
        return self.shortfall > 0 and self.on_the_way < _WINDOW


class Extents:
    """Makes extents one by one, for the program that is due next."""

    def __init__(
        self,
        executor: Executor,
        own_room: Callable[[], int | None],
        *,
        populated: bool = True,
        make: Callable[..., int] = make_extent,
    ) -> None:
        self._executor = executor
        # What can be charged to our own cgroups right now (headroom.py).
        self._own_room = own_room
        self._populated = populated
        self._make = make
        self._accounts: dict[int, _Account] = {}
        self._wake = asyncio.Event()
        self._failed = False

    def enter(self, client: int) -> None:
        """Begin an account for a client."""
        self._accounts[client] = _Account()

    def leave(self, client: int) -> None:
        """Forget a client. Its extents go with its process."""
        self._accounts.pop(client, None)

    def aim(self, client: int, size: int) -> None:
        """Set how much a client may have, as the core decides."""
        if client in self._accounts:
            self._accounts[client].wanted = size
            self._wake.set()

    def report(self, client: int, told: frames.Host) -> None:
        """Note what a client says it has."""
        account = self._accounts[client]
        account.told = told
        self._wake.set()
        is_served = account.on_the_way > 0 or (
            account.shortfall > 0 and self._may_make_for(account)
        )
        if told.lacking and (self._failed or not is_served):
            self._deny(client)

    @property
    def total(self) -> int:
        """The bytes that all clients have."""
        return sum(account.count for account in self._accounts.values())

    async def follow(self) -> None:
        """Make extents until the daemon ends."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while (client := self.next_client()) is not None:
                await self._provide(client)
            if self._failed:
                await asyncio.sleep(_RETRY_SECONDS)
                self._recover()

    def next_client(self) -> int | None:
        """Return the client to serve next: first one that waits, then the one that has least."""
        if self._failed:
            return None
        lacking = [
            (one, account)
            for one, account in self._accounts.items()
            if account.takes_more and self._may_make_for(account)
        ]
        first = min(lacking, key=lambda it: (not it[1].told.lacking, it[1].count), default=None)
        return first[0] if first else None

    def _may_make_for(self, account: _Account) -> bool:
        """Whether host_memory allows more.

        The core does not count rounding. A client whose move waits for an extent gets it all the
        same, or the memory ordered out could not leave. Ahead of need, no client gets more.
        """
        limit = self._executor.core.host_limit
        if limit is None or self.total + EXTENT <= limit:
            return True
        users = sum(one.told.most > 0 for one in self._accounts.values())
        return account.told.lacking > 0 and self.total + EXTENT <= limit + _SLACK * users

    async def _provide(self, client: int) -> None:
        try:
            if self._populated:
                extent = await asyncio.to_thread(self._make_charged)
            else:
                extent = self._make(EXTENT, populated=False)
                await asyncio.sleep(0)
        except (OSError, MemoryError) as error:
            self._fail(error)
            return
        try:
            # It may have left meanwhile.
            if client in self._accounts:
                self._accounts[client].sent += EXTENT
                self._executor.send(client, frames.Extent(EXTENT), extent)
        finally:
            os.close(extent)

    def _make_charged(self) -> int:
        """Make one, if our memory cgroup has room: otherwise the kernel would kill us."""
        room = self._own_room()
        if room is not None and room < EXTENT:
            raise OSError(errno.ENOMEM, "the limit of the daemon's memory cgroup is reached")
        return self._make(EXTENT, populated=True)

    def _deny(self, client: int) -> None:
        if client in self._accounts:
            self._executor.send(client, frames.HostFull(self._accounts[client].count))

    def _fail(self, error: Exception) -> None:
        """Log the failure, and tell the core that nothing more can leave."""
        log.warning(
            "no more host memory can be made for memory that leaves the GPUs, so some has to "
            "stay there: end programs, or give the daemon more memory",
            extra=fields(why=str(error), made=gib(self.total)),
        )
        self._failed = True
        now, short = self._executor.now(), [c for c, a in self._accounts.items() if a.shortfall > 0]
        # In this order: while the core sees room, it orders more ahead.
        self._tell_room(0)
        for client in short:
            self._executor.dispatch(HostDenied(now=now, client=client))
            self._deny(client)

    def _recover(self) -> None:
        self._failed = False
        self._tell_room(None)
        self._wake.set()

    def _tell_room(self, room: int | None) -> None:
        self._executor.dispatch(
            HostRoomChanged(
                now=self._executor.now(),
                pool=_POOL,
                room=room,
                limit=self.total,
                clients=tuple(sorted(c for c, a in self._accounts.items() if a.told.most)),
                what="the host memory that could be made",
            )
        )
