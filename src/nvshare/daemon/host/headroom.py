"""Reports to the core how much can still be charged to the memory cgroups of clients.

The kernel charges memory that leaves a GPU to the cgroup of its owner, and kills in a full cgroup.
Where the daemon makes the host memory (extents.py), its own cgroup is charged instead. Programs
also use their cgroups otherwise, so these are polled. Decides nothing; the core does.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias

from nvshare.core.events import HostRoomChanged
from nvshare.core.memory import Kind
from nvshare.core.view import ClientView
from nvshare.daemon.executor import Executor
from nvshare.daemon.host.cgroup import MemoryGroup
from nvshare.daemon.logs import fields

log = logging.getLogger("nvshare.headroom")

_MIB = 1 << 20
# The pause between polls of cgroups while some have limits; while none has; and the shortest.
_PAUSE = 2.0
_LONG_PAUSE = 10.0
_SHORT_PAUSE = 0.2
# Smaller differences are not reported.
_LITTLE = 16 * _MIB
_LEAST_MARGIN = 64 * _MIB
# The part of it that the daemon itself may need from one poll to the next.
_OWN_NEEDS = 24 * _MIB
# The words that users read about a limit.
_LIMIT = "its memory cgroup's limit"
_OWN_LIMIT = "the limit of the daemon's memory cgroup"
# How many polls in a row may be discarded because memory moves.
_PATIENCE = 5

Reader: TypeAlias = Callable[[Collection[int]], Mapping[int, list[MemoryGroup]]]
"""Returns the memory cgroups with limits that each of these processes is in."""


def no_limits(pids: Collection[int]) -> Mapping[int, list[MemoryGroup]]:
    """Read nothing."""
    return {pid: [] for pid in pids}


def margin(limit: int) -> int:
    """Return the room that is left free for the program's own needs."""
    return max(_LEAST_MARGIN, limit // 20)


class Headroom:
    """Knows the cgroups, and what the core was told of them."""

    def __init__(
        self,
        executor: Executor,
        read: Reader = no_limits,
        *,
        is_emulated: bool = False,
        own_pid: int | None = None,
    ) -> None:
        self._executor = executor
        # By client, its pid; and memory that it has reported as out, and that is on its way.
        self._pids: dict[int, int] = {}
        self._left: dict[int, int] = {}
        self._read = read
        # None: the host memory that the daemon makes has no pages.
        self._own_pid = own_pid
        self._own_groups: set[str] = set()
        # Memory that leaves an emulated GPU is in no cgroup of this machine.
        self._is_emulated = is_emulated
        self._told: dict[str, tuple[int, tuple[int, ...]]] = {}
        self._wake = asyncio.Event()
        self._in_vain = 0

    def enter(self, client: int, pid: int, kind: Kind) -> None:
        """Tell the core about the cgroups of a client that is about to join."""
        self._pids[client] = pid
        payers = self._payers(pid, kind)
        found = self._read_groups(payers)
        for group in {group.name: group for pid in payers for group in found[pid]}.values():
            _, members = self._told.get(group.name, (0, ()))
            self._tell(group, {*members, client})

    def leave(self, client: int) -> None:
        """Forget a client."""
        self._pids.pop(client, None)
        self._left.pop(client, None)

    def note_left(self, client: int, size: int) -> None:
        """Note how much of a client's memory has left the GPU and is still on its way."""
        self._left[client] = size
        self.soon()

    def _payers(self, pid: int, kind: Kind) -> list[int]:
        """Return the pids whose cgroups are charged for a client; for a mixture, both."""
        pids = [] if kind is Kind.EXPLICIT else [pid]
        if kind.is_copied and self._own_pid is not None:
            pids.append(self._own_pid)
        return [one for one in pids if one]

    def _read_groups(self, pids: Collection[int]) -> Mapping[int, list[MemoryGroup]]:
        found = self._read(pids)
        if self._own_pid is not None and self._own_pid in found:
            self._own_groups = {group.name for group in found[self._own_pid]}
        return found

    def own_room(self) -> int | None:
        """Read what can be charged to our own cgroups right now; None: they have no limit.

        Called just before memory is charged: since the last poll a limit may have been lowered, or
        others in the cgroup may have grown. The kernel would kill us. May be called in a thread.
        """
        if self._own_pid is None:
            return None
        groups = self._read_groups([self._own_pid]).get(self._own_pid, [])
        return min((one.limit - one.used - _OWN_NEEDS for one in groups), default=None)

    def soon(self) -> None:
        """Poll again soon: memory has changed."""
        if self._told:
            self._wake.set()

    async def follow(self) -> None:
        """Poll until the daemon ends."""
        while True:
            pause = _PAUSE if self._told else _LONG_PAUSE
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause)
            self._wake.clear()
            await self.look()
            await asyncio.sleep(_SHORT_PAUSE)

    async def look(self) -> None:
        """Read the cgroups of all clients, and tell the core what is new."""
        if not self._pids:
            self._told.clear()
            return
        payers = {
            client.id: self._payers(self._pids[client.id], client.kind)
            for client in self._clients(self._pids)
        }
        before = self._kept()
        found = await asyncio.to_thread(self._read_all, payers)
        groups: dict[str, MemoryGroup] = {}
        members: dict[str, set[int]] = defaultdict(set)
        for client, seen in found.items():
            if client in self._pids:
                for group in seen:
                    groups[group.name] = group
                    members[group.name].add(client)
        for name in [name for name in self._told if name not in groups]:
            self._forget(name)
        if self._kept() != before or self._moves(members):
            # Moving memory may or may not be charged yet. While that is uncertain, it counts twice.
            self._in_vain += 1
            if self._in_vain < _PATIENCE:
                return
        self._in_vain = 0
        for name, group in groups.items():
            if self._is_news(group, members[name]):
                self._tell(group, members[name])

    def _read_all(self, payers: Mapping[int, list[int]]) -> dict[int, list[MemoryGroup]]:
        by_pid = self._read_groups({pid for pids in payers.values() for pid in pids})
        return {
            client: [group for pid in pids for group in by_pid.get(pid, [])]
            for client, pids in payers.items()
        }

    def _tell(self, group: MemoryGroup, members: set[int]) -> None:
        clients = tuple(sorted(members))
        if group.name not in self._told:
            log.info(
                "a memory cgroup has a limit",
                extra=fields(cgroup=group.name, limit=group.limit, used=group.used),
            )
        self._told[group.name] = group.limit, clients
        self._executor.dispatch(
            HostRoomChanged(
                now=self._executor.now(),
                pool=group.name,
                room=self._room(group, members),
                limit=group.limit,
                clients=clients,
                what=_OWN_LIMIT if group.name in self._own_groups else _LIMIT,
            )
        )

    def _forget(self, name: str) -> None:
        del self._told[name]
        self._executor.dispatch(HostRoomChanged(now=self._executor.now(), pool=name, room=None))

    def _is_news(self, group: MemoryGroup, members: set[int]) -> bool:
        known = self._executor.core.room_in(group.name)
        if known is None or self._told.get(group.name) != (group.limit, tuple(sorted(members))):
            return True
        # The core itself counts memory that it has promised and that is not charged yet.
        clients = self._clients(members)
        promised = sum(max(0, client.booked - client.charged) for client in clients)
        return abs(self._room(group, members) - promised - known) > _LITTLE

    def _room(self, group: MemoryGroup, members: set[int]) -> int:
        used = group.used
        if group.name in self._own_groups:
            # The daemon knows its own needs.
            return max(0, group.limit - _LEAST_MARGIN - used)
        if self._is_emulated:
            used += sum(client.surely_out for client in self._clients(members))
        return max(0, group.limit - margin(group.limit) - used)

    def _moves(self, members: Mapping[str, set[int]]) -> bool:
        clients = {one for group in members.values() for one in group}
        on_the_way = any(self._left.get(one) for one in clients)
        return on_the_way or any(client.leaving for client in self._clients(clients))

    def _kept(self) -> dict[int, int]:
        return {client.id: client.booked for client in self._clients(self._pids)}

    def _clients(self, numbers: Iterable[int]) -> list[ClientView]:
        return self._executor.core.client_views(numbers)
