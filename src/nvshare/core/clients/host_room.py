"""The arithmetic of the host's memory: what is kept there, what more may leave. Decides nothing.

Memory that has left a device once keeps its pages on the host until it is freed, also while it is
back on the device. So a client counts with all memory that was ever out, as it reports, and at
least with the most that was out at once. That much may leave again at no cost. More has to fit into
the node's limit, and into every memory cgroup that is charged for it: the kernel kills a process
that exceeds its cgroup. These are the cgroups of the owner; or the daemon's, which makes the host
memory of clients that copy theirs (host/provide.py). Memory that does not fit there cannot leave.
"""

from collections.abc import Iterable
from typing import NamedTuple

from nvshare.core.record.client import Client
from nvshare.core.record.device import HostState, Pool

GIB = 1 << 30


def gib(size: int) -> str:
    """Return a size for messages."""
    return f"{size / GIB:.1f} GiB"


class Kept(NamedTuple):
    """What the host keeps for a client, and would if all that can leave did."""

    booked: int
    swappable: int

    @classmethod
    def of(cls, client: Client) -> "Kept":
        """Return that of a client as it is now."""
        return cls(client.booked, client.memory.swappable)


NOTHING_KEPT = Kept(0, 0)


class _Level:
    """One pool, and the sums over its clients."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        # Bytes kept for its clients beyond those charged when its room was read; and bytes of their
        # memory that have no pages on the host.
        self.spent = 0
        self.unbacked = 0

    @property
    def left(self) -> int:
        return self.pool.room - self.spent

    @property
    def is_tight(self) -> bool:
        return self.unbacked > self.left

    def count(self, charged: int, kept: Kept, sign: int) -> None:
        self.spent += sign * max(0, kept.booked - charged)
        self.unbacked += sign * (kept.swappable - kept.booked)


class HostRoom:
    """What all clients of a node take of the host."""

    def __init__(self, state: HostState | None = None) -> None:
        self.state = state or HostState()
        # Bytes that the host keeps for all clients, and bytes that it would if everything left.
        self.kept = 0
        self.swappable = 0
        self._levels = {name: _Level(pool) for name, pool in self.state.pools.items()}
        self._levels_of: dict[int, list[_Level]] = {}
        self._tight: set[int] = set()
        self._index()

    @property
    def is_tight(self) -> bool:
        """Whether the host cannot hold everything. Otherwise no limit has to be checked."""
        limit = self.state.limit
        return bool(self._tight) or (limit is not None and self.swappable > limit)

    @property
    def lefts(self) -> tuple[int, ...]:
        """Bytes that may still leave, for the node and each pool. Empty while everything could."""
        if not self.is_tight:
            return ()
        limit = self.state.limit
        node = () if limit is None else (limit - self.kept,)
        return (*node, *(level.left for level in self._levels.values()))

    def count(self, client: Client, before: Kept, after: Kept) -> None:
        """Count a client for something else than before."""
        self.kept += after.booked - before.booked
        self.swappable += after.swappable - before.swappable
        for level in self._levels_of.get(client.id, ()):
            charged = level.pool.charged[client.id]
            level.count(charged, before, -1)
            level.count(charged, after, 1)
            self._judge(level)

    def welcome(self, client: Client) -> None:
        """Note that the memory of a new client is charged already. It is not counted in yet."""
        for level in self._levels_of.get(client.id, ()):
            level.pool.charged[client.id] = client.booked

    def forget(self, client: Client) -> None:
        """Take a client that has left, and is counted out, out of its pools."""
        self._levels_of.pop(client.id, None)
        for name, pool in list(self.state.pools.items()):
            if pool.charged.pop(client.id, None) is not None and not pool.charged:
                self.set_pool(name, None, ())

    def set_pool(self, name: str, pool: Pool | None, members: Iterable[Client]) -> None:
        """Note a pool with its present room and its clients. None: it is gone."""
        old = self._levels.pop(name, None)
        if old is not None:
            self._tight.discard(id(old))
            del self.state.pools[name]
        if pool is not None:
            self.state.pools[name] = pool
            level = self._levels[name] = _Level(pool)
            for client in members:
                pool.charged[client.id] = client.charged
                level.count(client.charged, Kept.of(client), 1)
            self._judge(level)
        self._index()

    def allowance(self, gone: Iterable[Client] = ()) -> "Allowance":
        """Return an account of what may still leave now, or would if these had ended."""
        return Allowance(self, gone)

    def levels_of(self, client: Client) -> list[_Level]:
        """Return the pools that a client is in."""
        return self._levels_of.get(client.id, [])

    def most(self, client: Client) -> int:
        """Return the most bytes of a client that could be on the host at present."""
        return client.booked + self.left_for(client)

    def left(self, name: str) -> int | None:
        """Return how much can be charged to a pool now, if it is known."""
        return self._levels[name].left if name in self._levels else None

    def left_for(self, client: Client) -> int:
        """Return how much more could be kept for a client, if no other took it."""
        lefts = [level.left for level in self.levels_of(client)]
        if self.state.limit is not None:
            lefts.append(self.state.limit - self.kept)
        return max(0, min(lefts, default=client.memory.swappable))

    def stuck(self, client: Client) -> int:
        """Return the bytes of a client that could not leave if they had to."""
        return max(0, client.memory.swappable - self.most(client)) if self.is_tight else 0

    def why(self, client: Client) -> str:
        """Return why a client's memory cannot leave, with the numbers."""
        level = min(self.levels_of(client), key=lambda one: one.left, default=None)
        limit = self.state.limit
        if level is not None and (limit is None or level.left <= limit - self.kept):
            return (
                f"{level.pool.what} of {gib(level.pool.limit)} "
                f"has {gib(max(0, level.left))} left; raise that limit"
            )
        return (
            f"host_memory allows {gib(limit or 0)}, and {gib(self.kept)} are taken; "
            f"end programs, or raise host_memory"
        )

    def _judge(self, level: _Level) -> None:
        if level.is_tight:
            self._tight.add(id(level))
        else:
            self._tight.discard(id(level))

    def _index(self) -> None:
        self._levels_of = {}
        for level in self._levels.values():
            for client in level.pool.charged:
                self._levels_of.setdefault(client, []).append(level)


class Allowance:
    """What may still leave for the host, for working out how much each client could move.

    Pools are nested or disjoint. So clients get the same total in whatever order they take.
    """

    def __init__(self, host: HostRoom, gone: Iterable[Client] = ()) -> None:
        self._host = host
        limit = host.state.limit
        self._node = None if limit is None else limit - host.kept
        self._left: dict[int, int] = {}
        for client in gone:
            self._free(client)

    def _free(self, client: Client) -> None:
        if self._node is not None:
            self._node += client.booked
        for level in self._host.levels_of(client):
            self._left[id(level)] = self._left.get(id(level), level.left) + client.booked

    def take(self, client: Client, wanted: int) -> int:
        """Let ``wanted`` bytes of a client leave, or as many as may. Call it once per client."""
        return self.reserve(client, wanted) if self._host.is_tight else max(0, wanted)

    def reserve(self, client: Client, wanted: int) -> int:
        """Do the same also for memory that the client does not have yet."""
        new, reserved = wanted - client.spare, client.reserved
        if new <= 0:
            return max(0, wanted)
        levels = self._host.levels_of(client)
        for level in levels:
            new = min(new, reserved + self._left.setdefault(id(level), level.left))
        if self._node is not None:
            new = min(new, reserved + self._node)
        new = max(0, new)
        more = max(0, new - reserved)
        for level in levels:
            self._left[id(level)] -= more
        if self._node is not None:
            self._node -= more
        return client.spare + new
